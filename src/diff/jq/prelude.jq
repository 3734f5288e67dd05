def delpaths($paths): litecd__delpaths($paths);
def del(f): delpaths([path(f)]);

def repeat(f): def rec: litecd__tick | ., (f | rec); rec;
def recurse(f): def rec: litecd__tick | ., (f | rec); rec;
def recurse: recurse(.[]?);
def recurse(f; cond): def rec: litecd__tick | ., (f | select(cond) | rec); rec;
def while(cond; update): def rec: litecd__tick | if cond then ., (update | rec) else empty end; rec;
def until(cond; update): def rec: litecd__tick | if cond then . else update | rec end; rec;
def range($from; $to; $by): $from |
    if   $by > 0 then while(. < $to; . + $by)
    elif $by < 0 then while(. > $to; . + $by)
    else              while(. != $to; .) end;
def range($from; $to): range($from; $to; 1);
def range($to): range(0; $to; 1);
def combinations: litecd__tick |
    if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations($n): . as $all | [range($n) | $all] | combinations;
def walk(f): def rec: litecd__tick |
    (if isobject then map_values(rec) elif isarray then map(rec) else . end) | f; rec;

def leaf_paths: paths(scalars);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def INDEX(stream; f): reduce stream as $row ({}; . + {($row | f | tostring): $row});
def INDEX(f): INDEX(.[]; f);
def trimstr($x): ltrimstr($x) | rtrimstr($x);
def ascii: [.] | implode;
def tostream: path(def rec: litecd__tick | (.[]? | rec), .; rec) as $p | getpath($p)
    | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def truncate_stream(s): . as $n | null | s | . as $item
    | if ($item[0] | length) > $n then [$item[0][$n:]] + $item[1:] else empty end;
def @csv: [.[] | if isstring then "\"" + gsub("\""; "\"\"") + "\"" elif . == null then "" else tostring end] | join(",");
