//! An upper bound on the work of a condition, computed from its text alone. The bound is the sum of
//! the steps of all nodes in the condition's syntax tree, including the steps for the bytes that a
//! node reads or copies. The sizes of values are bounded too, because operators such as `+` make
//! values longer.
//!
//! Macros such as `map` and `exists` multiply the work of their body, and nested or chained macros
//! would multiply the work repeatedly. A macro must therefore not occur in the body or the list of
//! another macro.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};

use crate::sign_up::budget::{Budget, BudgetRefusal};
use crate::sign_up::patterns::{MAX_DYNAMIC, PatternRefusal, Patterns, steps_of_compiling, steps_of_matching};

/// The steps of evaluating a node.
const STEPS_PER_NODE: u64 = 4;
/// How many bytes are read or copied per step.
const BYTES_PER_STEP: u64 = 256;
/// The memory of a node, in bytes.
const BYTES_PER_NODE: usize = 256;
/// The size of a value without its text, in bytes; elements of lists have the same size.
const VALUE: u64 = 24;
/// The maximum length of a number as text, in bytes.
const MAX_NUMBER: u64 = 400;
/// The maximum nesting of a condition. The nesting is limited because every level takes stack space
/// during evaluation.
const MAX_DEPTH: usize = 200;

/// The maximum length of an address or domain in a condition, in bytes.
pub(crate) const MAX_TEXT: usize = 256;
/// The maximum length of the name of a method, provider or country in a condition, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// The maximum lengths of the variables' values, in bytes, and the number of elements of a map.
const VARIABLES: [(&str, usize, u64); 6] = [
    ("email", MAX_TEXT, 0),
    ("emailDomain", MAX_TEXT, 0),
    ("authMethod", MAX_NAME, 0),
    ("oauthProvider", MAX_NAME, 0),
    ("countryCode", MAX_NAME, 0),
    ("riskScores", 128, 2),
];

/// Why a condition does not have a bound.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Exceeded(#[from] BudgetRefusal),
    #[error("macros such as `map` and `exists` cannot be nested or chained")]
    Nested,
    #[error("the expression is nested more than {MAX_DEPTH} levels deep")]
    Deep,
}

/// An upper bound on the size of a value.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// The bytes of the value, including those of its elements.
    bytes: u64,
    /// The number of elements.
    items: u64,
    /// The bytes of the largest element.
    item: u64,
}

/// An upper bound on the work of an expression, in steps, and on its value.
#[derive(Debug, Clone, Copy)]
struct Bound {
    steps: u64,
    size: Size,
}

/// The bounds of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The steps of an evaluation.
    pub(crate) steps: u64,
    /// The number of nodes of the syntax tree.
    pub(crate) nodes: usize,
    /// The number of nodes that the parser copied.
    pub(crate) copies: usize,
    /// The memory of the syntax tree, in bytes.
    pub(crate) bytes: usize,
    /// Why one of the condition's regular expressions is invalid; absent if all expressions are
    /// valid. An evaluation that does not use the invalid expression still has a result.
    pub(crate) invalid: Option<String>,
}

/// The bounds of a condition. The condition's regular expressions are compiled into `patterns` and
/// charged to `budget`; the bounds themselves are not charged yet.
pub(crate) fn estimate(expression: &IdedExpr, patterns: &mut Patterns, budget: &mut Budget) -> Result<Cost, Refusal> {
    let mut walk = Walk { patterns, budget, scope: Scope::Condition, depth: 0, nodes: 0, copies: 0, invalid: None };
    let bound = walk.bound(expression)?;
    let (nodes, bytes) = (walk.nodes, walk.nodes.saturating_mul(BYTES_PER_NODE));
    Ok(Cost { steps: bound.steps, nodes, copies: walk.copies, bytes, invalid: walk.invalid })
}

/// Where an expression occurs.
enum Scope {
    /// Outside macros.
    Condition,
    /// In the list of a macro.
    List,
    /// In the body of a macro, with the macro's variable and its result so far.
    Body([(String, Size); 2]),
}

struct Walk<'a> {
    patterns: &'a mut Patterns,
    budget: &'a mut Budget,
    scope: Scope,
    depth: usize,
    nodes: usize,
    copies: usize,
    invalid: Option<String>,
}

impl Size {
    fn from_bytes(bytes: u64) -> Self {
        Self { bytes: bytes.saturating_add(VALUE), items: 0, item: 0 }
    }

    /// An element of this size, in bytes; the element may be a list.
    fn from_item(bytes: u64) -> Self {
        Self { bytes, items: bytes / VALUE + 1, item: bytes }
    }

    /// A value with the bytes and elements of both values.
    fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            items: self.items.saturating_add(other.items),
            item: self.item.max(other.item),
        }
    }

    fn list(elements: impl Iterator<Item = Self>) -> Self {
        elements.fold(Self::from_bytes(0), |list, element| {
            let item = element.bytes.saturating_add(VALUE);
            list.and(Self { bytes: item, items: 1, item })
        })
    }
}

impl Bound {
    /// A node whose parts have these bounds; the node reads the values of all parts.
    fn node(parts: &[Self], size: Size) -> Self {
        let read = |part: &Self| part.steps.saturating_add(part.size.bytes / BYTES_PER_STEP);
        let steps = parts.iter().map(read).fold(STEPS_PER_NODE, u64::saturating_add);
        Self { steps: steps.saturating_add(size.bytes / BYTES_PER_STEP), size }
    }
}

impl Walk<'_> {
    fn bound(&mut self, expression: &IdedExpr) -> Result<Bound, Refusal> {
        (self.depth, self.nodes) = (self.depth + 1, self.nodes + 1);
        if self.depth > MAX_DEPTH {
            return Err(Refusal::Deep);
        }
        let before = self.nodes;
        let bound = self.bound_here(expression);
        self.depth -= 1;
        if is_copied(&expression.expr) {
            self.copies += self.nodes - before;
        }
        bound
    }

    fn bound_here(&mut self, expression: &IdedExpr) -> Result<Bound, Refusal> {
        match &expression.expr {
            Expr::Unspecified => Ok(Bound::node(&[], Size::default())),
            Expr::Literal(literal) => Ok(Bound::node(&[], Size::from_bytes(length(literal)))),
            Expr::Ident(name) => Ok(Bound::node(&[], self.variable(name))),
            Expr::Select(select) => {
                let operand = self.bound(&select.operand)?;
                Ok(Bound::node(&[operand], Size::from_item(operand.size.bytes)))
            }
            Expr::List(list) => {
                let elements = self.all(&list.elements)?;
                Ok(Bound::node(&elements, Size::list(elements.iter().map(|element| element.size))))
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(fields) => self.entries(fields.entries.iter().map(|entry| &entry.expr)),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(each) => match self.scope {
                Scope::Condition => self.each(each),
                Scope::List | Scope::Body(_) => Err(Refusal::Nested),
            },
        }
    }

    fn all<'e>(&mut self, expressions: impl IntoIterator<Item = &'e IdedExpr>) -> Result<Vec<Bound>, Refusal> {
        let mut bounds = Vec::new();
        for expression in expressions {
            bounds.push(self.bound(expression)?);
        }
        Ok(bounds)
    }

    fn entries<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>) -> Result<Bound, Refusal> {
        let parts = entries.flat_map(|entry| match entry {
            EntryExpr::StructField(field) => [None, Some(&field.value)],
            EntryExpr::MapEntry(entry) => [Some(&entry.key), Some(&entry.value)],
        });
        let parts = self.all(parts.flatten())?;
        Ok(Bound::node(&parts, Size::list(parts.iter().map(|part| part.size))))
    }

    fn variable(&self, name: &str) -> Size {
        if let Scope::Body(variables) = &self.scope
            && let Some((_, size)) = variables.iter().find(|(own, _)| own == name)
        {
            return *size;
        }
        let global = VARIABLES.iter().find(|(own, ..)| *own == name);
        let size = |(_, bytes, items): &(&str, usize, u64)| Size { items: *items, item: *bytes as u64, ..Size::from_bytes(*bytes as u64) };
        global.map_or(Size::from_bytes(0), size)
    }

    fn call(&mut self, call: &CallExpr) -> Result<Bound, Refusal> {
        let parts = self.all(call.target.as_deref().into_iter().chain(&call.args))?;
        let sum = parts.iter().fold(Size::default(), |sum, part| sum.and(part.size));
        let size = match call.func_name.as_str() {
            name if is_scalar(name) => Size::from_bytes(0),
            operators::INDEX => Size::from_item(parts.first().map_or(0, |list| list.size.item)),
            "string" => sum.and(Size::from_bytes(MAX_NUMBER)),
            _ => sum,
        };
        let mut bound = Bound::node(&parts, size);
        if call.func_name == "matches" {
            let bytes = |part: Option<&Bound>| part.map_or(0, |part| part.size.bytes);
            let pattern = call.args.last().map(|pattern| &pattern.expr);
            bound.steps = bound.steps.saturating_add(self.matching(pattern, bytes(parts.last()), bytes(parts.first()))?);
        }
        Ok(bound)
    }

    /// The steps of comparing a text with this size to a regular expression of at most `length`
    /// bytes.
    fn matching(&mut self, pattern: Option<&Expr>, length: u64, text: u64) -> Result<u64, Refusal> {
        if let Some(Expr::Literal(LiteralValue::String(literal))) = pattern {
            match self.patterns.add(literal.inner(), self.budget) {
                Ok(size) => return Ok(steps_of_matching(size, text)),
                Err(PatternRefusal::Exceeded(exceeded)) => return Err(exceeded.into()),
                Err(PatternRefusal::Invalid(reason)) => self.invalid = self.invalid.take().or(Some(reason)),
            }
        }
        Ok(steps_of_compiling(length, MAX_DYNAMIC).saturating_add(steps_of_matching(MAX_DYNAMIC, text)))
    }

    /// A macro, whose parts are evaluated once per element.
    fn each(&mut self, each: &ComprehensionExpr) -> Result<Bound, Refusal> {
        self.scope = Scope::List;
        let list = self.bound(&each.iter_range)?;
        let (items, element) = (list.size.items, Size::from_item(list.size.item));
        self.scope = body(each, element, Size::from_bytes(0));
        let parts = self.all([&each.loop_cond, &each.loop_step])?;
        // In a list made by `map` or `filter`, every element has the value of the body.
        let value = parts.last().map_or(0, |step| step.size.bytes);
        let result = Size { bytes: value.saturating_mul(items), items: items.saturating_add(1), item: value };
        self.scope = body(each, element, result);
        let ends = self.all([&each.accu_init, &each.result])?;
        self.scope = Scope::Condition;
        let once = Bound::node(&parts, element).steps.saturating_add(STEPS_PER_NODE);
        let all = Bound { steps: once.saturating_mul(items), size: result };
        let parts: Vec<Bound> = [list, all].into_iter().chain(ends).collect();
        Ok(Bound::node(&parts, result))
    }
}

/// The scope of the body of a macro.
fn body(each: &ComprehensionExpr, element: Size, result: Size) -> Scope {
    Scope::Body([(each.iter_var.clone(), element), (each.accu_var.clone(), result)])
}

/// Whether the parser copied the content of this node, which it does for macros and for calls other
/// than operators.
fn is_copied(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => call.func_name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.')),
        Expr::Comprehension(_) => true,
        _ => false,
    }
}

/// Whether a function returns a number, a boolean or a type, regardless of the sizes of its
/// arguments.
fn is_scalar(name: &str) -> bool {
    const SCALAR: [&str; 24] = [
        operators::LOGICAL_AND,
        operators::LOGICAL_OR,
        operators::LOGICAL_NOT,
        operators::NOT_STRICTLY_FALSE,
        operators::EQUALS,
        operators::NOT_EQUALS,
        operators::LESS,
        operators::LESS_EQUALS,
        operators::GREATER,
        operators::GREATER_EQUALS,
        operators::IN,
        operators::NEGATE,
        operators::MULTIPLY,
        operators::DIVIDE,
        operators::MODULO,
        operators::SUBSTRACT,
        "contains",
        "startsWith",
        "endsWith",
        "matches",
        "size",
        "int",
        "bool",
        "hasValue",
    ];
    SCALAR.contains(&name)
}

fn length(literal: &LiteralValue) -> u64 {
    let length = match literal {
        LiteralValue::String(text) => text.inner().len(),
        LiteralValue::Bytes(bytes) => bytes.inner().len(),
        LiteralValue::Boolean(_) | LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Null => 0,
    };
    length as u64
}
