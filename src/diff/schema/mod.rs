//! Looks up the shape of built-in Kubernetes types in a generated table.
//!
//! In:  a group, version and kind, or the name of a core/v1 type.
//! Out: structs, fields and the way each field merges, as views into the table's text.
//! Invariant: nothing is parsed ahead and nothing is kept; a look-up is a binary search in static text.
//! Source: DIFF-037, DIFF-055, DIFF-065 (Kubernetes 1.36.1 types; `corpus/golib/schema` writes the table).

use std::cmp::Ordering;

use crate::api::object::GroupVersionKind;

/// Kinds, an empty line, structs; the marks are explained in `corpus/golib/schema/main.go`.
const TABLE: &str = include_str!("types.txt");

/// A struct with named fields: one line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Struct {
    head: &'static str,
    fields: &'static str,
}

/// The type of a value, as written in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    shape: &'static str,
}

/// What a type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    String,
    /// Boolean.
    Bool,
    /// Integer of 32 bits.
    Int32,
    /// Integer of 64 bits.
    Int64,
    /// Floating point number.
    Float,
    /// Base64 text.
    Bytes,
    /// Resource quantity.
    Quantity,
    /// Integer or text.
    IntOrString,
    /// RFC 3339 time in seconds.
    Time,
    /// RFC 3339 time in microseconds.
    MicroTime,
    /// Go duration.
    Duration,
    /// An embedded object of another schema.
    Raw,
    /// Arbitrary JSON.
    Any,
    /// List of one type.
    List(Type),
    /// Map from text to one type.
    Map(Type),
    /// Struct.
    Struct(Struct),
}

/// One field of a struct.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// JSON name.
    pub name: &'static str,
    /// Type, pointers included.
    pub ty: Type,
    /// Whether Go writes the field even when it is zero.
    pub always: bool,
    marks: &'static str,
}

/// How server-side apply merges a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// The list is one value.
    Atomic,
    /// A set of scalars.
    Set,
    /// Items are identified by these fields.
    Keyed(Vec<&'static str>),
}

/// A kind of the table.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// The kind's own struct.
    pub root: Struct,
    /// Whether client-go registers the kind; false for CustomResourceDefinition and APIService.
    pub registered: bool,
}

/// The kind's entry, where the kind is built in.
pub fn builtin(gvk: &GroupVersionKind) -> Option<Builtin> {
    let key = format!("{}/{}/{}", gvk.group, gvk.version, gvk.kind);
    let (kinds, _) = sections();
    let line = find(kinds, |line| before(line, ' ').cmp(key.as_str()))?;
    let mut words = line.split(' ').skip(1);
    let root = Struct::by_id(words.next()?)?;
    Some(Builtin { root, registered: words.next().is_none() })
}

/// The kind's entry when client-go registers the kind.
pub fn registered(gvk: &GroupVersionKind) -> Option<Struct> {
    builtin(gvk).filter(|entry| entry.registered).map(|entry| entry.root)
}

/// A struct of core/v1 by its Go name.
pub fn core_struct(name: &str) -> Option<Struct> {
    let (_, structs) = sections();
    structs.lines().filter_map(Struct::parse).find(|found| found.name() == name)
}

fn sections() -> (&'static str, &'static str) {
    TABLE.split_once("\n\n").unwrap_or((TABLE, ""))
}

fn before(line: &str, end: char) -> &str {
    line.split(end).next().unwrap_or(line)
}

/// Finds a line of sorted text; `order` compares a line with what is looked for.
fn find(text: &'static str, order: impl Fn(&str) -> Ordering) -> Option<&'static str> {
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = text.get(low..middle)?.rfind('\n').map_or(low, |at| low + at + 1);
        let end = text.get(middle..high)?.find('\n').map_or(high, |at| middle + at);
        let line = text.get(start..end)?;
        match order(line) {
            Ordering::Equal => return Some(line),
            Ordering::Less => low = end + 1,
            Ordering::Greater => high = start.saturating_sub(1),
        }
    }
    None
}

impl Struct {
    fn by_id(id: &str) -> Option<Self> {
        let (_, structs) = sections();
        Self::parse(find(structs, |line| line.get(..2).unwrap_or(line).cmp(id))?)
    }

    fn parse(line: &'static str) -> Option<Self> {
        let (head, fields) = line.split_once(' ').unwrap_or((line, ""));
        Some(Self { head: head.get(2..)?, fields })
    }

    /// Go name of a core/v1 type, empty for others.
    pub fn name(self) -> &'static str {
        self.head.trim_start_matches('=').trim_end_matches('~')
    }

    /// Whether server-side apply treats the struct as one value.
    pub fn atomic(self) -> bool {
        self.head.ends_with('~')
    }

    /// The fields in order of their names.
    pub fn fields(self) -> impl Iterator<Item = Field> {
        self.fields.split(' ').filter_map(Field::parse)
    }

    /// The field of this name.
    pub fn field(self, name: &str) -> Option<Field> {
        self.fields().find(|field| field.name == name)
    }

    /// The field that Go's decoder takes for this key: the exact name, else one that differs in case only.
    pub fn field_folded(self, name: &str) -> Option<Field> {
        self.field(name).or_else(|| self.fields().find(|field| field.name.eq_ignore_ascii_case(name)))
    }

    /// The struct as a type, to start a walk from.
    pub fn as_type(self) -> Shape {
        Shape::Struct(self)
    }
}

impl Field {
    fn parse(word: &'static str) -> Option<Self> {
        let (name, rest) = word.split_once(':')?;
        let (shape, marks) = rest.split_once(';').unwrap_or((rest, ""));
        let bare = shape.trim_start_matches('!');
        Some(Self { name, ty: Type { shape: bare }, always: bare.len() != shape.len(), marks })
    }

    fn mark(&self, letter: &str) -> Option<&'static str> {
        self.marks.split(';').find_map(|mark| {
            let (found, text) = mark.split_once('=').unwrap_or((mark, ""));
            (found == letter).then_some(text)
        })
    }

    /// The key by which strategic merge matches list items; empty for lists of scalars.
    pub fn merge_key(&self) -> Option<&'static str> {
        self.mark("m")
    }

    /// Whether strategic merge replaces the value as a whole.
    pub fn replaces(&self) -> bool {
        self.mark("r").is_some()
    }

    /// Whether strategic merge drops the fields that the patch does not name.
    pub fn retains_keys(&self) -> bool {
        self.mark("k").is_some()
    }

    /// How server-side apply merges a list in this field.
    pub fn list_kind(&self) -> ListKind {
        match (self.mark("l"), self.mark("s")) {
            (Some(keys), _) => ListKind::Keyed(keys.split(',').collect()),
            (None, Some(_)) => ListKind::Set,
            (None, None) => ListKind::Atomic,
        }
    }

    /// Whether server-side apply treats a map in this field as one value.
    pub fn atomic(&self) -> bool {
        self.mark("a").is_some()
    }

    /// Value that a list key has when the item leaves it out.
    pub fn key_default(&self) -> Option<&'static str> {
        self.mark("d")
    }
}

impl Type {
    /// Whether the type is a pointer, so that zero and absent differ.
    pub fn is_pointer(self) -> bool {
        self.shape.starts_with('*')
    }

    /// What the type is, pointers followed.
    pub fn shape(self) -> Shape {
        let text = self.shape.trim_start_matches('*');
        let mut letters = text.chars();
        let first = letters.next().unwrap_or('j');
        let rest = Type { shape: letters.as_str() };
        match first {
            's' => Shape::String,
            'b' => Shape::Bool,
            'i' => Shape::Int32,
            'I' => Shape::Int64,
            'f' => Shape::Float,
            'y' => Shape::Bytes,
            'q' => Shape::Quantity,
            'o' => Shape::IntOrString,
            't' => Shape::Time,
            'u' => Shape::MicroTime,
            'd' => Shape::Duration,
            'r' => Shape::Raw,
            '[' => Shape::List(rest),
            '{' => Shape::Map(rest),
            '.' => Struct::by_id(rest.shape).map_or(Shape::Any, Shape::Struct),
            _ => Shape::Any,
        }
    }
}
