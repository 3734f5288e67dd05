//! Turns a tree into instructions for the backtracking search.
//!
//! In:  a tree.
//! Out: a program; the pattern is refused when counted repeats make it too large.

use super::parse::{Assert, Ast, Set};

/// How many instructions a pattern may have; `{n}` copies what it repeats.
const MAX_INSTRUCTIONS: usize = 20_000;

/// One instruction; those without a target are followed by the next one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Instruction {
    Letter(Set),
    Assert(Assert),
    BackReference(usize),
    /// Goes on at `first`, and at `second` when that fails.
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    /// Remembers the position in a slot: two per group, one per unbounded repeat.
    Save(usize),
    /// Fails when no letter was taken since the slot was saved, which ends loops over nothing.
    Progress(usize),
    /// Looks at the text with the instructions up to `end`, which is an `Accept`.
    Look {
        behind: bool,
        negated: bool,
        end: usize,
    },
    Accept,
}

/// Instructions, and how many slots they use.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) code: Vec<Instruction>,
    pub(super) slots: usize,
}

pub(super) fn compile(tree: &Ast) -> Result<Program, String> {
    let mut compiler = Compiler { code: Vec::new(), slots: slots(tree) };
    compiler.add(tree)?;
    compiler.push(Instruction::Accept)?;
    Ok(Program { code: compiler.code, slots: compiler.slots })
}

/// Slots of the groups: start and end of each, group 0 being unused.
fn slots(tree: &Ast) -> usize {
    match tree {
        Ast::Concat(parts) | Ast::Alternate(parts) => parts.iter().map(slots).max().unwrap_or(0),
        Ast::Repeat { inner, .. } | Ast::Look { inner, .. } => slots(inner),
        Ast::Group { inner, index } => slots(inner).max(index * 2 + 2),
        Ast::Empty | Ast::Set(_) | Ast::Assert(_) | Ast::BackReference(_) => 0,
    }
}

struct Compiler {
    code: Vec<Instruction>,
    slots: usize,
}

impl Compiler {
    fn push(&mut self, instruction: Instruction) -> Result<usize, String> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return Err("pattern too large".to_owned());
        }
        self.code.push(instruction);
        Ok(self.code.len() - 1)
    }

    fn set(&mut self, at: usize, instruction: Instruction) {
        if let Some(slot) = self.code.get_mut(at) {
            *slot = instruction;
        }
    }

    fn add(&mut self, tree: &Ast) -> Result<(), String> {
        match tree {
            Ast::Empty => Ok(()),
            Ast::Set(set) => self.push(Instruction::Letter(set.clone())).map(drop),
            Ast::Assert(assert) => self.push(Instruction::Assert(*assert)).map(drop),
            Ast::BackReference(index) => self.push(Instruction::BackReference(*index)).map(drop),
            Ast::Concat(parts) => parts.iter().try_for_each(|part| self.add(part)),
            Ast::Alternate(parts) => self.alternate(parts),
            Ast::Group { inner, index } => {
                self.push(Instruction::Save(index * 2))?;
                self.add(inner)?;
                self.push(Instruction::Save(index * 2 + 1)).map(drop)
            }
            Ast::Look { inner, behind, negated } => {
                let look = self.push(Instruction::Jump(0))?;
                self.add(inner)?;
                let end = self.push(Instruction::Accept)?;
                self.set(look, Instruction::Look { behind: *behind, negated: *negated, end });
                Ok(())
            }
            Ast::Repeat { inner, min, max, greedy } => {
                for _ in 0..*min {
                    self.add(inner)?;
                }
                match max {
                    None => self.unbounded(inner, *greedy),
                    Some(max) => self.optional(inner, max.saturating_sub(*min), *greedy),
                }
            }
        }
    }

    fn alternate(&mut self, parts: &[Ast]) -> Result<(), String> {
        let Some((last, others)) = parts.split_last() else { return Ok(()) };
        let mut jumps = Vec::new();
        for part in others {
            let split = self.push(Instruction::Jump(0))?;
            self.add(part)?;
            jumps.push(self.push(Instruction::Jump(0))?);
            self.set(split, Instruction::Split { first: split + 1, second: self.code.len() });
        }
        self.add(last)?;
        for jump in jumps {
            self.set(jump, Instruction::Jump(self.code.len()));
        }
        Ok(())
    }

    fn unbounded(&mut self, inner: &Ast, greedy: bool) -> Result<(), String> {
        let slot = self.slots;
        self.slots += 1;
        let split = self.push(Instruction::Jump(0))?;
        self.push(Instruction::Save(slot))?;
        self.add(inner)?;
        self.push(Instruction::Progress(slot))?;
        self.push(Instruction::Jump(split))?;
        self.set(split, branch(split + 1, self.code.len(), greedy));
        Ok(())
    }

    fn optional(&mut self, inner: &Ast, times: u32, greedy: bool) -> Result<(), String> {
        let mut splits = Vec::new();
        for _ in 0..times {
            splits.push(self.push(Instruction::Jump(0))?);
            self.add(inner)?;
        }
        for split in splits {
            self.set(split, branch(split + 1, self.code.len(), greedy));
        }
        Ok(())
    }
}

fn branch(inside: usize, behind: usize, greedy: bool) -> Instruction {
    let (first, second) = if greedy { (inside, behind) } else { (behind, inside) };
    Instruction::Split { first, second }
}
