//! Runs a program over a text, trying alternatives in order and going back when one fails.
//!
//! In:  a program and the text's letters.
//! Out: whether there is a match; `None` when the budget of steps is used up.

use super::parse::{Assert, is_word};
use super::program::{Instruction, Program};

/// Steps for one search; about a tenth of a second at worst.
const MAX_STEPS: usize = 2_000_000;

/// Whether a match starts anywhere in the text.
pub(super) fn is_match(program: &Program, letters: &[char]) -> Option<bool> {
    let mut search = Search { program, letters, steps: 0 };
    for start in 0..=letters.len() {
        let state = State { pc: 0, at: start, slots: vec![None; program.slots] };
        if search.run(state, None)?.is_some() {
            return Some(true);
        }
    }
    Some(false)
}

#[derive(Clone)]
struct State {
    pc: usize,
    at: usize,
    slots: Vec<Option<usize>>,
}

struct Search<'a> {
    program: &'a Program,
    letters: &'a [char],
    steps: usize,
}

/// What one instruction leads to.
enum Outcome {
    Next,
    Fail,
    Accept,
}

impl Search<'_> {
    /// Runs to the next `Accept`; with `end`, only one that is reached there counts. `None` means out of steps.
    fn run(&mut self, start: State, end: Option<usize>) -> Option<Option<State>> {
        let mut stack = vec![start];
        while let Some(mut state) = stack.pop() {
            loop {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return None;
                }
                match self.step(&mut state, &mut stack)? {
                    Outcome::Next => {}
                    Outcome::Accept if end.is_none_or(|end| end == state.at) => return Some(Some(state)),
                    Outcome::Accept | Outcome::Fail => break,
                }
            }
        }
        Some(None)
    }

    fn step(&mut self, state: &mut State, stack: &mut Vec<State>) -> Option<Outcome> {
        let Some(instruction) = self.program.code.get(state.pc) else { return Some(Outcome::Fail) };
        state.pc += 1;
        let holds = match instruction {
            Instruction::Accept => return Some(Outcome::Accept),
            Instruction::Letter(set) => {
                let fits = self.letters.get(state.at).is_some_and(|letter| set.has(*letter));
                state.at += 1;
                fits
            }
            Instruction::Assert(assert) => self.asserted(*assert, state.at),
            Instruction::BackReference(group) => self.repeat_group(state, *group),
            Instruction::Split { first, second } => {
                stack.push(State { pc: *second, ..state.clone() });
                state.pc = *first;
                true
            }
            Instruction::Jump(target) => {
                state.pc = *target;
                true
            }
            Instruction::Save(slot) => {
                if let Some(slot) = state.slots.get_mut(*slot) {
                    *slot = Some(state.at);
                }
                true
            }
            Instruction::Progress(slot) => state.slots.get(*slot) != Some(&Some(state.at)),
            Instruction::Look { behind, negated, end } => {
                let inner = State { pc: state.pc, ..state.clone() };
                let found = if *behind { self.look_behind(&inner)? } else { self.run(inner, None)? };
                let holds = found.is_some() != *negated;
                if let Some(found) = found
                    && !*negated
                {
                    state.slots = found.slots;
                }
                state.pc = end + 1;
                holds
            }
        };
        Some(if holds { Outcome::Next } else { Outcome::Fail })
    }

    /// Tries every start before the place, the nearest first, for a match that ends exactly there.
    fn look_behind(&mut self, state: &State) -> Option<Option<State>> {
        for start in (0..=state.at).rev() {
            let found = self.run(State { at: start, ..state.clone() }, Some(state.at))?;
            if found.is_some() {
                return Some(found);
            }
        }
        Some(None)
    }

    /// Takes the letters that a group took; a group that took no part makes the reference fail.
    fn repeat_group(&self, state: &mut State, group: usize) -> bool {
        let slot = |at: usize| state.slots.get(at).copied().flatten();
        let (Some(start), Some(end)) = (slot(group * 2), slot(group * 2 + 1)) else { return false };
        let Some(taken) = self.letters.get(start..end) else { return false };
        let fits = self.letters.get(state.at..).is_some_and(|rest| rest.starts_with(taken));
        state.at += taken.len();
        fits
    }

    fn asserted(&self, assert: Assert, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.letters.get(at)).copied();
        let after = self.letters.get(at).copied();
        let boundary = before.is_some_and(is_word) != after.is_some_and(is_word);
        match assert {
            Assert::Start => at == 0,
            Assert::LineStart => before.is_none_or(|letter| letter == '\n'),
            Assert::End => after.is_none(),
            Assert::EndOrFinalNewline => after.is_none() || (after == Some('\n') && at + 1 == self.letters.len()),
            Assert::LineEnd => after.is_none_or(|letter| letter == '\n'),
            Assert::WordBoundary => boundary,
            Assert::NoWordBoundary => !boundary,
        }
    }
}
