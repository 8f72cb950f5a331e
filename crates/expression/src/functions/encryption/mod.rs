//! Encryption: AES, MariaDB's ENCODE, DES, and the C library's hash of passwords.
//!
//! | function | method |
//! |---|---|
//! | AES_ENCRYPT | AES-128, each block by itself, padded as PKCS #7; bytes of a longer key are combined by XOR |
//! | ENCODE | [`encode`] |
//! | DES_ENCRYPT | three DES keys, chained: a byte with the key's number, then the text padded by `*` and its pad length |
//! | ENCRYPT | [`crypt`] |
//! | OLD_PASSWORD | [`encode`] |
//!
//! There is no `des_key_file`: the ten keys of DES_ENCRYPT with a number are zero, as in MariaDB without that file.
//! The two functions with DES raise note 1287 when they are evaluated first, MariaDB when it parses them.

mod crypt;
mod des;
mod encode;

use std::borrow::Cow;

use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use md5::{Digest, Md5};
use paceline_types::Value;
use paceline_types::error_code::{ER_WARN_DEPRECATED_SYNTAX, ER_WRONG_PARAMETERS_TO_PROCEDURE};

use self::crypt::{CryptError, crypt, salt_of_time};
use self::des::TripleDes;
use self::encode::{EncodeCipher, old_password_hash};
use super::arguments::some;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::eval::check_interrupt;
use crate::expr_type::{Class, ExprType};
use crate::session::{Privilege, PrivilegeTarget};
use crate::tree::{Args, BindCall, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("aes_encrypt", (2, 2), bind_aes_encrypt, eval_aes_encrypt),
    pure("aes_decrypt", (2, 2), bind_same_length, eval_aes_decrypt),
    pure("encode", (2, 2), bind_same_length, |args, context| {
        eval_encode(args, context, EncodeCipher::encode)
    }),
    pure("decode", (2, 2), bind_same_length, |args, context| {
        eval_encode(args, context, EncodeCipher::decode)
    }),
    pure("des_encrypt", (1, 2), bind_des_encrypt, eval_des_encrypt),
    // Its privilege can change between two executions.
    steady("des_decrypt", (1, 2), bind_des_decrypt, eval_des_decrypt),
    pure("encrypt", (1, 2), bind_encrypt, eval_encrypt),
    OLD_PASSWORD,
];

/// PASSWORD() with `old_passwords`.
pub(super) static PASSWORD_AS_BEFORE: Function = OLD_PASSWORD;

const OLD_PASSWORD: Function = pure(
    "old_password",
    (1, 1),
    |call| Ok(call.connection_text(16).nullable()),
    eval_old_password,
);

/// Length in bytes of a block of AES.
const AES_BLOCK_LENGTH: usize = 16;

/// Length in bytes of a block of DES.
const DES_BLOCK_LENGTH: usize = 8;

/// Bytes that DES works on between two checks whether the statement was killed.
const DES_CHECK_INTERVAL: usize = 64 << 10;

/// Mark in the first byte of what DES_ENCRYPT returns. The other bits are the number of the key.
const DES_MARK: u8 = 0x80;

/// Number of a key that was given as text.
const DES_TEXT_KEY: u8 = 0x7F;

/// The largest number of a key.
const DES_KEY_NUMBER_MAX: u8 = 9;

fn bind_same_length(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(ExprType::bytes(call.args[0].ty.max_bytes()).nullable())
}

fn bind_aes_encrypt(call: &mut BindCall<'_>) -> Result<ExprType> {
    let block = AES_BLOCK_LENGTH as u64;
    let blocks = call.args[0].ty.max_bytes() / block + 1;
    Ok(ExprType::bytes(blocks.saturating_mul(block)).nullable())
}

/// Returns the key for AES-128: the bytes that are too many are added to the first ones.
fn aes_key(password: &[u8]) -> Aes128 {
    let mut key = [0; AES_BLOCK_LENGTH];
    for (index, byte) in password.iter().enumerate() {
        key[index % AES_BLOCK_LENGTH] ^= byte;
    }
    Aes128::new(&GenericArray::from(key))
}

fn eval_aes_encrypt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut bytes = some!(args.bytes(0, context)?).into_owned();
    let key = aes_key(&some!(args.bytes(1, context)?));
    let pad = AES_BLOCK_LENGTH - bytes.len() % AES_BLOCK_LENGTH;
    bytes.resize(bytes.len() + pad, pad as u8);
    for block in bytes.as_chunks_mut::<AES_BLOCK_LENGTH>().0 {
        key.encrypt_block(GenericArray::from_mut_slice(block));
    }
    Ok(Value::Bytes(bytes))
}

/// Decrypts; NULL if the padding shows another key.
fn eval_aes_decrypt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut bytes = some!(args.bytes(0, context)?).into_owned();
    let key = aes_key(&some!(args.bytes(1, context)?));
    if bytes.len() % AES_BLOCK_LENGTH != 0 {
        return Ok(Value::Null);
    }
    for block in bytes.as_chunks_mut::<AES_BLOCK_LENGTH>().0 {
        key.decrypt_block(GenericArray::from_mut_slice(block));
    }
    let pad = some!(bytes.last().copied());
    let is_pad = (1..=AES_BLOCK_LENGTH).contains(&usize::from(pad));
    if !is_pad || !bytes.ends_with(&vec![pad; usize::from(pad)]) {
        return Ok(Value::Null);
    }
    bytes.truncate(bytes.len() - usize::from(pad));
    Ok(Value::Bytes(bytes))
}

fn eval_encode(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    apply: fn(EncodeCipher, &mut [u8]),
) -> Result<Value> {
    let mut bytes = some!(args.bytes(0, context)?).into_owned();
    let password = some!(args.bytes(1, context)?);
    apply(EncodeCipher::new(&password), &mut bytes);
    Ok(Value::Bytes(bytes))
}

fn eval_old_password(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let password = some!(args.bytes(0, context)?);
    if password.is_empty() {
        return Ok(Value::Text(String::new()));
    }
    let (first, second) = old_password_hash(&password);
    Ok(Value::Text(format!("{first:08x}{second:08x}")))
}

fn bind_des_encrypt(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.args[0].ty.max_bytes();
    Ok(ExprType::bytes(length.saturating_add(DES_BLOCK_LENGTH as u64 + 1)).nullable())
}

fn bind_des_decrypt(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.args[0].ty.max_bytes();
    Ok(ExprType::bytes(length.saturating_sub(DES_BLOCK_LENGTH as u64 + 1)).nullable())
}

/// Raises the note that the function is deprecated, at the first evaluation of a call.
fn note_deprecated(args: &Args<'_>, context: &mut EvalContext<'_>) {
    if context.state.noted_calls.insert(args.call.id) {
        let message = format!(
            "'{}' is deprecated and will be removed in a future release",
            args.name()
        );
        let diagnostics = &mut context.session.diagnostics;
        diagnostics.note(ER_WARN_DEPRECATED_SYNTAX, message);
    }
}

/// Returns NULL with warning 1108.
fn wrong_des_parameters(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let message = ER_WRONG_PARAMETERS_TO_PROCEDURE.message(&[&args.name()]);
    context.warn(ER_WRONG_PARAMETERS_TO_PROCEDURE, message)?;
    Ok(Value::Null)
}

/// Returns the keys made from a password by OpenSSL's `EVP_BytesToKey`: MD5 of it, then MD5 of that and it.
fn des_key_of(password: &[u8]) -> TripleDes {
    let first = Md5::digest(password);
    let second = Md5::new().chain_update(first).chain_update(password).finalize();
    let mut key = [0; 24];
    key[..16].copy_from_slice(&first);
    key[16..].copy_from_slice(&second[..8]);
    TripleDes::new(&key)
}

/// Returns a key by its number.
fn des_key_numbered(_number: u8) -> TripleDes {
    TripleDes::new(&[0; 24])
}

/// Encrypts or decrypts whole blocks in place.
fn in_des_blocks(
    bytes: &mut [u8],
    context: &EvalContext<'_>,
    mut apply: impl FnMut(&mut [u8], u64) -> u64,
) -> Result<()> {
    let mut before = 0;
    for part in bytes.chunks_mut(DES_CHECK_INTERVAL) {
        check_interrupt(context)?;
        before = apply(part, before);
    }
    Ok(())
}

fn eval_des_encrypt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let clear = args.bytes(0, context)?;
    note_deprecated(args, context);
    let clear = some!(clear);
    if clear.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let (number, key) = if args.len() == 1 {
        (0, des_key_numbered(0))
    } else if args.ty_of(1).class() == Class::Int {
        let number = args.int(1, context)?.unwrap_or(0);
        match u8::try_from(number) {
            Ok(number @ 0..=DES_KEY_NUMBER_MAX) => (number, des_key_numbered(number)),
            _ => return wrong_des_parameters(args, context),
        }
    } else {
        match args.bytes(1, context)? {
            Some(password) => (DES_TEXT_KEY, des_key_of(&password)),
            None => return wrong_des_parameters(args, context),
        }
    };
    let pad = DES_BLOCK_LENGTH - clear.len() % DES_BLOCK_LENGTH;
    let mut bytes = Vec::with_capacity(1 + clear.len() + pad);
    bytes.push(DES_MARK | number);
    bytes.extend_from_slice(&clear);
    bytes.resize(bytes.len() + pad - 1, b'*');
    bytes.push(pad as u8);
    in_des_blocks(&mut bytes[1..], context, |part, before| key.encrypt(part, before))?;
    Ok(Value::Bytes(bytes))
}

/// Decrypts. Returns text that is not encrypted as it is, and NULL if the padding shows another key.
fn eval_des_decrypt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = args.bytes(0, context)?;
    note_deprecated(args, context);
    let mut bytes = some!(bytes).into_owned();
    let is_encrypted = bytes.len() > DES_BLOCK_LENGTH
        && bytes.len() % DES_BLOCK_LENGTH == 1
        && bytes.first().is_some_and(|mark| mark & DES_MARK != 0);
    if !is_encrypted {
        return Ok(Value::Bytes(bytes));
    }
    let key = if args.len() == 1 {
        let number = bytes[0] & !DES_MARK;
        let session = &context.session;
        let may = session
            .services
            .privileges
            .check(session, Privilege::Super, PrivilegeTarget::Global);
        if may.is_err() || number > DES_KEY_NUMBER_MAX {
            return wrong_des_parameters(args, context);
        }
        des_key_numbered(number)
    } else {
        match args.bytes(1, context)? {
            Some(password) => des_key_of(&password),
            None => return wrong_des_parameters(args, context),
        }
    };
    bytes.remove(0);
    in_des_blocks(&mut bytes, context, |part, before| key.decrypt(part, before))?;
    let pad = bytes.last().map_or(0, |pad| usize::from(*pad));
    if pad > DES_BLOCK_LENGTH {
        return Ok(Value::Null);
    }
    bytes.truncate(bytes.len() - pad);
    Ok(Value::Bytes(bytes))
}

/// ENCRYPT with a salt from the clock.
static ENCRYPT_WITHOUT_SALT: Function = steady("encrypt", (1, 1), bind_encrypt, eval_encrypt);

fn bind_encrypt(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.args.len() == 1 {
        call.function = &ENCRYPT_WITHOUT_SALT;
    }
    Ok(ExprType::bytes(13).nullable())
}

fn eval_encrypt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let password = some!(args.bytes(0, context)?);
    if password.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let salt = if args.len() == 1 {
        Cow::Owned(salt_of_time((context.session.statement.start_micros / 1_000_000) as u64).to_vec())
    } else {
        some!(args.bytes(1, context)?)
    };
    if salt.len() < 2 {
        return Ok(Value::Null);
    }
    let (password, salt) = (before_nul(&password), before_nul(&salt));
    let hash = match crypt(password, salt, &mut || check_interrupt(context)) {
        Ok(hash) => hash,
        // A result that is no hash, and not the salt either.
        Err(CryptError::Invalid) if salt.starts_with(b"*0") => "*1".to_owned(),
        Err(CryptError::Invalid) => "*0".to_owned(),
        Err(CryptError::Unsupported) => {
            return Err(errors::not_supported("ENCRYPT() with this kind of salt"));
        }
        Err(CryptError::Interrupted(error)) => return Err(error),
    };
    Ok(Value::Bytes(hash.into_bytes()))
}

fn before_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}
