//! The functions that expressions may call, with a limit on time and stack woven in.
//!
//! In:  jaq's own functions and definitions, those that gojq has besides, the limits of a run.
//! Out: what a program is compiled with.
//! Source: DIFF-078 to DIFF-081 (gojq 0.12.19 `builtin.jq`).

use jaq_core::box_iter::box_once;
use jaq_core::data::HasLut;
use jaq_core::load::parse::Def;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{DataT, Error, Exn, Lut, Native, load};
use jaq_json::Val;

use super::delete;

/// Name of the function that fails when a limit is reached. A word a person would not choose.
pub const TICK: &str = "litecd__tick";
/// Definitions that replace jaq's or that jaq lacks.
const PRELUDE: &str = include_str!("prelude.jq");
/// Stack that one run may use, far below the smallest stack a thread gets.
const STACK_BYTES: usize = 512 * 1024;
/// Functions that read the process's environment, write to its streams or end it.
const REPLACED: [&str; 4] = ["halt", "env", "debug_empty", "stderr_empty"];

/// The kind of data that programs run with.
pub struct Metered;

/// The limits of one run.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    lut: &'a Lut<Metered>,
    expired: &'a dyn Fn() -> bool,
    stack: usize,
}

impl<'a> Limits<'a> {
    /// Limits that count the stack from here.
    pub fn new(lut: &'a Lut<Metered>, expired: &'a dyn Fn() -> bool) -> Self {
        Self { lut, expired, stack: stack_address() }
    }

    fn check(&self) -> Result<(), Error<Val>> {
        if stack_address().abs_diff(self.stack) > STACK_BYTES {
            return Err(Error::str("recursion is too deep"));
        }
        if (self.expired)() { Err(Error::str("time is up")) } else { Ok(()) }
    }
}

impl DataT for Metered {
    type V<'a> = Val;
    type Data<'a> = Limits<'a>;
}

impl<'a> HasLut<'a, Metered> for Limits<'a> {
    fn lut(&self) -> &'a Lut<Metered> {
        self.lut
    }
}

/// About where the stack ends now.
#[inline(never)]
fn stack_address() -> usize {
    let marker = 0_u8;
    std::hint::black_box(std::ptr::from_ref(&marker)).addr()
}

/// All definitions, later ones replacing earlier ones of the same name.
pub fn definitions() -> impl Iterator<Item = Def<&'static str>> {
    let ours = load::parse(PRELUDE, |parser| parser.defs()).unwrap_or_default();
    jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(ours)
}

/// All native functions.
pub fn functions() -> impl Iterator<Item = Fun<Metered>> {
    let theirs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    theirs.filter(|(name, ..)| !REPLACED.contains(name)).chain(ours())
}

fn ours() -> Vec<Fun<Metered>> {
    let tick = Native::<Metered>::new(|cv| box_once(cv.0.data().check().map(|()| cv.1).map_err(Exn::from)))
        .with_paths(|cv| box_once(cv.0.data().check().map(|()| cv.1).map_err(Exn::from)))
        .with_update(|cv, update| match cv.0.data().check() {
            Ok(()) => update(cv.1),
            Err(error) => box_once(Err(Exn::from(error))),
        });
    vec![
        (TICK, v(0), tick),
        run(("litecd__delpaths", v(1), |mut cv| {
            let paths = cv.0.pop_var();
            bome(delete::paths(&cv.1, &paths))
        })),
        run(("halt", v(1), |mut cv| {
            cv.0.pop_var();
            bome(Err(Error::str("halt")))
        })),
        run(("env", v(0), |_| bome(Ok(Val::obj(jaq_json::Map::default()))))),
        run(("debug_empty", v(0), |_| Box::new(std::iter::empty()))),
        run(("stderr_empty", v(0), |_| Box::new(std::iter::empty()))),
    ]
}
