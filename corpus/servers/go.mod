module servers

go 1.26.0
