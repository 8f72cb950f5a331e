//! Modules that work, and modules that do harm.

use crate::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    memory_bytes: 1 << 20,
    call_ms: 60_000,
};

/// A statement that can be killed, and has so much memory.
struct Statement {
    is_killed: Arc<AtomicBool>,
    memory_bytes: usize,
}

impl CallHost for Statement {
    fn interruption(&self) -> Option<HostError> {
        self.is_killed.load(Ordering::Acquire).then(|| "killed".into())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), HostError> {
        match bytes <= self.memory_bytes {
            true => Ok(()),
            false => Err("no memory is left".into()),
        }
    }
}

fn statement(is_killed: &Arc<AtomicBool>) -> Box<Statement> {
    Box::new(Statement {
        is_killed: is_killed.clone(),
        memory_bytes: usize::MAX,
    })
}

fn never() -> Box<Statement> {
    statement(&Arc::default())
}

fn compile(text: &str, parameters: &[ValueKind], result: ValueKind) -> Result<Module, ModuleError> {
    compile_within(LIMITS, text, parameters, result)
}

fn compile_within(
    limits: Limits,
    text: &str,
    parameters: &[ValueKind],
    result: ValueKind,
) -> Result<Module, ModuleError> {
    let signature = Signature {
        parameters: parameters.to_vec(),
        result,
    };
    let runtime = Runtime::new().unwrap();
    runtime.compile(text.as_bytes(), "f", signature, limits)
}

fn call(module: &Module, arguments: &[Argument<'_>]) -> Result<Output, CallError> {
    Instance::new(module, never())?.call(arguments, None)
}

const ADD: &str = r#"(module (func (export "f") (param i64 f64) (result f64)
    (f64.add (f64.convert_i64_s (local.get 0)) (local.get 1))))"#;

#[test]
fn numbers_are_passed_and_null_calls_nothing() {
    use ValueKind::{Integer, Real};
    let module = compile(ADD, &[Integer, Real], Real).unwrap();
    let mut instance = Instance::new(&module, never()).unwrap();
    for number in 0..1000 {
        let arguments = [Argument::Integer(number), Argument::Real(0.5)];
        let value = instance.call(&arguments, None).unwrap();
        assert_eq!(value, Output::Real(number as f64 + 0.5));
    }
    let value = instance.call(&[Argument::Null, Argument::Real(0.5)], None);
    assert_eq!(value.unwrap(), Output::Null);
}

/// Returns its text with each byte one higher. `allocate` takes from a bump pointer, which `reset` sets back.
const TEXT: &str = r#"(module
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 16))
    (func (export "reset") (global.set $free (i32.const 16)))
    (func (export "allocate") (param i32) (result i32)
        (global.get $free)
        (global.set $free (i32.add (global.get $free) (local.get 0))))
    (func (export "f") (param i32 i32) (result i64) (local $i i32)
        (block $end (loop $next
            (br_if $end (i32.ge_u (local.get $i) (local.get 1)))
            (i32.store8 (i32.add (local.get 0) (local.get $i))
                (i32.add (i32.const 1) (i32.load8_u (i32.add (local.get 0) (local.get $i)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $next)))
        (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1)))))"#;

#[test]
fn texts_are_passed_through_the_modules_memory() {
    let module = compile(TEXT, &[ValueKind::Text], ValueKind::Text).unwrap();
    let mut instance = Instance::new(&module, never()).unwrap();
    let long = vec![b'a'; 40_000];
    for text in [&b"HAL"[..], b"", &long, &long, b"HAL"] {
        let wanted = text.iter().map(|byte| byte + 1).collect();
        let value = instance.call(&[Argument::Text(text)], None).unwrap();
        assert_eq!(value, Output::Text(wanted));
    }
    let too_long = vec![b'a'; 70_000];
    let error = instance.call(&[Argument::Text(&too_long)], None).unwrap_err();
    assert!(matches!(error, CallError::Misuse(_)), "{error}");
}

#[test]
fn a_function_that_asks_for_null_gets_it_and_can_return_it() {
    let text = r#"(module
        (import "paceline" "argument_is_null" (func $is_null (param i32) (result i32)))
        (import "paceline" "return_null" (func $return_null))
        (func (export "f") (param i64) (result i64)
            (if (i64.eq (local.get 0) (i64.const 7)) (then (call $return_null)))
            (i64.add (local.get 0) (i64.extend_i32_u (call $is_null (i32.const 0))))))"#;
    let module = compile(text, &[ValueKind::Integer], ValueKind::Integer).unwrap();
    let mut instance = Instance::new(&module, never()).unwrap();
    for (argument, value) in [
        (Argument::Null, Output::Integer(1)),
        (Argument::Integer(7), Output::Null),
        (Argument::Integer(3), Output::Integer(3)),
    ] {
        assert_eq!(instance.call(&[argument], None).unwrap(), value);
    }
}

#[test]
fn memory_that_the_statement_may_not_have_ends_the_call() {
    let text = r#"(module (memory 1) (func (export "f") (result i64) (i64.extend_i32_s (memory.grow (i32.const 3)))))"#;
    let module = compile(text, &[], ValueKind::Integer).unwrap();
    let with_memory = |memory_bytes| Statement {
        is_killed: Arc::default(),
        memory_bytes,
    };
    let mut instance = Instance::new(&module, Box::new(with_memory(4 << 16))).unwrap();
    assert_eq!(instance.call(&[], None).unwrap(), Output::Integer(1));
    let mut instance = Instance::new(&module, Box::new(with_memory(2 << 16))).unwrap();
    let refused = instance.call(&[], None).unwrap_err();
    assert!(matches!(&refused, CallError::Host(reason) if reason.to_string() == "no memory is left"));
    let refused = Instance::new(&module, Box::new(with_memory(0))).unwrap_err();
    assert!(matches!(refused, CallError::Host(_)), "{refused}");
}

#[test]
fn a_loop_ends_at_the_time_limit_and_when_it_is_interrupted() {
    let text = r#"(module (func (export "f") (result i64) (loop $l (br $l)) (i64.const 0)))"#;
    let short = Limits {
        call_ms: 50,
        ..LIMITS
    };
    let module = compile_within(short, text, &[], ValueKind::Integer).unwrap();
    let begin = Instant::now();
    let mut instance = Instance::new(&module, never()).unwrap();
    let error = instance.call(&[], None).unwrap_err();
    assert!(matches!(error, CallError::TimeLimit(50)), "{error}");
    assert!(begin.elapsed() >= Duration::from_millis(50));
    let again = instance.call(&[], None).unwrap_err();
    assert!(matches!(again, CallError::Misuse(_)), "{again}");

    let module = compile(text, &[], ValueKind::Integer).unwrap();
    let flag = Arc::<AtomicBool>::default();
    let mut instance = Instance::new(&module, statement(&flag)).unwrap();
    let killer = std::thread::spawn(move || flag.store(true, Ordering::Release));
    let error = instance.call(&[], None).unwrap_err();
    assert!(
        matches!(&error, CallError::Host(reason) if reason.to_string() == "killed"),
        "{error}"
    );
    killer.join().unwrap();
}

#[test]
fn a_start_function_that_loops_ends_too() {
    let text = r#"(module (func $s (loop $l (br $l))) (start $s)
        (func (export "f") (result i64) (i64.const 0)))"#;
    let short = Limits {
        call_ms: 20,
        ..LIMITS
    };
    let module = compile_within(short, text, &[], ValueKind::Integer).unwrap();
    let error = call(&module, &[]).unwrap_err();
    assert!(matches!(error, CallError::TimeLimit(20)), "{error}");
}

#[test]
fn memory_has_a_limit() {
    // Returns how many pages it got.
    let text = r#"(module (memory (export "memory") 1) (func (export "f") (result i64) (local $n i64)
        (loop $l
            (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1))
                (then (local.set $n (i64.add (local.get $n) (i64.const 1))) (br $l))))
        (local.get $n)))"#;
    let module = compile(text, &[], ValueKind::Integer).unwrap();
    assert_eq!(call(&module, &[]).unwrap(), Output::Integer(15));
    let text = r#"(module (memory (export "memory") 17) (func (export "f") (result i64) (i64.const 0)))"#;
    let error = compile(text, &[], ValueKind::Integer).unwrap_err();
    assert!(matches!(error, ModuleError::MemoryLimit { .. }), "{error}");
    let hidden = text.replace(r#"(export "memory")"#, "");
    let module = compile(&hidden, &[], ValueKind::Integer).unwrap();
    assert!(matches!(call(&module, &[]), Err(CallError::Trap(_))));
}

#[test]
fn traps_are_errors_with_their_reason() {
    for (body, reason) in [
        ("(unreachable)", "unreachable"),
        ("(drop (i32.load (i32.const 65536)))", "out of bounds"),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", "divide by zero"),
        ("(drop (call $f))", "stack"),
    ] {
        let text = format!(r#"(module (memory 1) (func $f (export "f") (result i64) {body} (i64.const 0)))"#);
        let module = compile(&text, &[], ValueKind::Integer).unwrap();
        let error = call(&module, &[]).unwrap_err();
        assert!(matches!(error, CallError::Trap(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn modules_that_do_not_fit_are_refused() {
    use ValueKind::{Integer, Real, Text};
    let message = |text: &str, parameters: &[ValueKind], result| {
        compile(text, parameters, result).unwrap_err().to_string()
    };
    assert!(message("(module", &[], Integer).starts_with("the module is invalid"));
    assert!(message("(module)", &[], Integer).contains("does not export the function f"));
    assert!(message(ADD, &[Integer, Integer], Real).contains("must have the type"));
    assert!(message(ADD, &[Integer, Real], Integer).contains("must have the type"));
    let without = TEXT.replace(r#"(export "allocate")"#, "");
    assert!(message(&without, &[Text], Text).contains("does not export the function allocate"));
    let without = TEXT.replace(r#"(memory (export "memory") 1)"#, "(memory 1)");
    assert!(message(&without, &[Text], Text).contains("does not export memory"));
    for import in [
        r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
        r#"(import "paceline" "system" (func))"#,
    ] {
        let text = format!(r#"(module {import} (func (export "f") (result i64) (i64.const 0)))"#);
        assert!(message(&text, &[], Integer).contains("the server does not have"));
    }
    let wrong = r#"(module (import "paceline" "return_null" (func (param i32)))
        (func (export "f") (result i64) (i64.const 0)))"#;
    assert!(message(wrong, &[], Integer).starts_with("the module is invalid"));
    let long = vec![0; MODULE_BYTES_MAX + 1];
    let signature = Signature {
        parameters: Vec::new(),
        result: Integer,
    };
    let compiled = Runtime::new().unwrap().compile(&long, "f", signature, LIMITS);
    assert_eq!(compiled.unwrap_err(), ModuleError::TooLong);
}

/// One table `t (k INT PRIMARY KEY, v VARCHAR)`, in memory.
#[derive(Default)]
struct OneTable {
    rows: Vec<(i64, Option<&'static str>)>,
    cursors: HashMap<u32, Vec<(i64, Option<&'static str>)>>,
    opened: u32,
}

impl OneTable {
    fn open(&mut self, rows: Vec<(i64, Option<&'static str>)>) -> CursorId {
        self.opened += 1;
        self.cursors.insert(self.opened, rows);
        CursorId(self.opened)
    }

    fn row(&self, cursor: CursorId) -> Result<(i64, Option<&'static str>), HostError> {
        let rows = self.cursors.get(&cursor.0).ok_or("no such cursor")?;
        Ok(*rows.first().ok_or("the cursor is on no row")?)
    }
}

impl Tables for OneTable {
    fn table(&mut self, name: &str) -> Result<u32, HostError> {
        match name {
            "t" => Ok(0),
            _ => Err(format!("Table '{name}' doesn't exist").into()),
        }
    }

    fn column(&mut self, _: u32, name: &str) -> Result<u32, HostError> {
        Ok(u32::from(name == "v"))
    }

    fn index(&mut self, _: u32, _: &str) -> Result<u32, HostError> {
        Ok(0)
    }

    fn get(&mut self, _: u32, _: u32, key: &[KeyValue]) -> Result<Option<CursorId>, HostError> {
        let [KeyValue::Integer(wanted)] = key else {
            return Err(format!("the key is {key:?}").into());
        };
        let found = self.rows.iter().find(|row| row.0 == *wanted).copied();
        Ok(found.map(|row| self.open(vec![row])))
    }

    fn scan(
        &mut self,
        _: u32,
        _: u32,
        key: &[KeyValue],
        direction: Direction,
    ) -> Result<CursorId, HostError> {
        assert_eq!(key, []);
        let mut rows = vec![(0, None)];
        rows.extend(self.rows.iter().copied());
        if direction == Direction::Backward {
            rows[1..].reverse();
        }
        Ok(self.open(rows))
    }

    fn next(&mut self, cursor: CursorId) -> Result<bool, HostError> {
        let rows = self.cursors.get_mut(&cursor.0).ok_or("no such cursor")?;
        rows.remove(0);
        Ok(!rows.is_empty())
    }

    fn is_null(&mut self, cursor: CursorId, column: u32) -> Result<bool, HostError> {
        Ok(column == 1 && self.row(cursor)?.1.is_none())
    }

    fn integer(&mut self, cursor: CursorId, _: u32) -> Result<i64, HostError> {
        Ok(self.row(cursor)?.0)
    }

    fn real(&mut self, cursor: CursorId, _: u32) -> Result<f64, HostError> {
        Ok(self.row(cursor)?.0 as f64)
    }

    fn text(&mut self, cursor: CursorId, _: u32, read: &mut dyn FnMut(&[u8])) -> Result<(), HostError> {
        read(self.row(cursor)?.1.unwrap_or_default().as_bytes());
        Ok(())
    }

    fn close(&mut self, cursor: CursorId) {
        self.cursors.remove(&cursor.0);
    }
}

/// Sums k over a scan of t backwards, with the length of the text of the row whose key is k + 1 added.
const SCAN: &str = r#"(module
    (import "paceline" "table" (func $table (param i32 i32) (result i32)))
    (import "paceline" "column" (func $column (param i32 i32 i32) (result i32)))
    (import "paceline" "scan" (func $scan (param i32 i32 i32) (result i32)))
    (import "paceline" "next" (func $next (param i32) (result i32)))
    (import "paceline" "integer" (func $integer (param i32 i32) (result i64)))
    (import "paceline" "text" (func $text (param i32 i32 i32 i32) (result i32)))
    (import "paceline" "key_integer" (func $key (param i64)))
    (import "paceline" "get" (func $get (param i32 i32) (result i32)))
    (import "paceline" "close" (func $close (param i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "tv")
    (func (export "f") (result i64) (local $t i32) (local $v i32) (local $s i32) (local $g i32) (local $sum i64)
        (local.set $t (call $table (i32.const 0) (i32.const 1)))
        (local.set $v (call $column (local.get $t) (i32.const 1) (i32.const 1)))
        (local.set $s (call $scan (local.get $t) (i32.const 0) (i32.const 1)))
        (block $end (loop $row
            (br_if $end (i32.eqz (call $next (local.get $s))))
            (local.set $sum (i64.add (local.get $sum) (call $integer (local.get $s) (i32.const 0))))
            (call $key (i64.add (i64.const 1) (call $integer (local.get $s) (i32.const 0))))
            (local.set $g (call $get (local.get $t) (i32.const 0)))
            (if (i32.ne (local.get $g) (i32.const -1)) (then
                (local.set $sum (i64.add (local.get $sum) (i64.extend_i32_u
                    (call $text (local.get $g) (local.get $v) (i32.const 100) (i32.const 2)))))
                (call $close (local.get $g))))
            (br $row)))
        (local.get $sum)))"#;

#[test]
fn tables_are_read_through_several_cursors() {
    let module = compile(SCAN, &[], ValueKind::Integer).unwrap();
    let mut tables = OneTable {
        rows: vec![(1, Some("one")), (2, Some("three")), (3, None)],
        ..OneTable::default()
    };
    let mut instance = Instance::new(&module, never()).unwrap();
    let value = instance.call(&[], Some(&mut tables)).unwrap();
    // 3 + 2 + 1, and the lengths of the texts of 3 and 2.
    assert_eq!(value, Output::Integer(6 + 5));
    // A function that reads tables where there are none fails, and so does one whose table does not exist.
    let error = Instance::new(&module, never())
        .unwrap()
        .call(&[], None)
        .unwrap_err();
    assert!(matches!(error, CallError::Misuse(_)), "{error}");
    let other = SCAN.replace(r#"(i32.const 0) "tv""#, r#"(i32.const 0) "wv""#);
    let module = compile(&other, &[], ValueKind::Integer).unwrap();
    let mut instance = Instance::new(&module, never()).unwrap();
    let error = instance.call(&[], Some(&mut tables)).unwrap_err();
    assert_eq!(error.to_string(), "Table 'w' doesn't exist");
}

#[test]
fn a_function_fails_with_a_message_of_its_own() {
    let text = r#"(module (import "paceline" "fail" (func $fail (param i32 i32)))
        (memory (export "memory") 1) (data (i32.const 8) "no such account")
        (func (export "f") (result i64) (call $fail (i32.const 8) (i32.const 15)) (i64.const 0)))"#;
    let module = compile(text, &[], ValueKind::Integer).unwrap();
    let error = call(&module, &[]).unwrap_err();
    assert!(matches!(&error, CallError::Failed(message) if message == "no such account"));
    let beyond = text.replace("(i32.const 15)", "(i32.const 65535)");
    let error = call(&compile(&beyond, &[], ValueKind::Integer).unwrap(), &[]).unwrap_err();
    assert!(matches!(error, CallError::Misuse(_)), "{error}");
}
