//! Certificates, private keys and revocation lists in PEM files. Errors use OpenSSL's texts.

use super::certificate::Certificate;
use super::{provider, tls_error};
use crate::error::WireResult;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::path::{Path, PathBuf};

/// Maximum length of a file, in bytes.
const FILE_MAX: u64 = 16 << 20;

/// Reads a file, which must not be too long.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = vec![];
    // Reads one byte more than allowed, to detect a longer file: a truncated list could omit revoked certificates.
    std::fs::File::open(path)?
        .take(FILE_MAX + 1)
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_MAX {
        true => Err(std::io::Error::other("it is longer than 16 MiB")),
        false => Ok(bytes),
    }
}

/// Returns all objects of one kind in a file.
fn objects<T: PemObject>(path: &Path, problem: &str) -> WireResult<Vec<T>> {
    let failed =
        |error: &dyn std::fmt::Display| tls_error(format!("{problem} from '{}': {error}", path.display()));
    let bytes = read(path).map_err(|error| failed(&error))?;
    T::pem_slice_iter(&bytes)
        .collect::<Result<Vec<T>, _>>()
        .map_err(|error| failed(&error))
}

/// Returns the certificates of a file; at least one.
pub fn certificates(path: &Path) -> WireResult<Vec<CertificateDer<'static>>> {
    let problem = "Unable to get certificate";
    let found: Vec<CertificateDer<'static>> = objects(path, problem)?;
    match found.is_empty() {
        true => Err(tls_error(format!(
            "{problem} from '{}': it holds none",
            path.display()
        ))),
        false => Ok(found),
    }
}

/// Returns the revocation lists of a file.
pub fn revocation_lists(path: &Path) -> WireResult<Vec<CertificateRevocationListDer<'static>>> {
    objects(path, "Unable to get revocation list")
}

/// Returns the files of a directory (`ssl_capath`), ordered by name. OpenSSL looks for names made from hashes; here
/// every file is read.
pub fn files_of(directory: &Path) -> WireResult<Vec<PathBuf>> {
    let failed = |error: std::io::Error| {
        tls_error(format!(
            "Unable to get certificates from '{}': {error}",
            directory.display()
        ))
    };
    let mut files = vec![];
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a certificate with those that lead to its authority, and its key. The key may be in the same file.
///
/// # Errors
/// If something is wrong with them, or if they do not belong together.
pub fn certified_key(certificate: &Path, key: &Path) -> WireResult<CertifiedKey> {
    let chain = certificates(certificate)?;
    let problem = "Unable to get private key";
    let failed =
        |error: &dyn std::fmt::Display| tls_error(format!("{problem} from '{}': {error}", key.display()));
    let bytes = read(key).map_err(|error| failed(&error))?;
    let private = match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(private) => private,
        Err(_) if bytes.windows(9).any(|word| word == b"ENCRYPTED") => {
            return Err(failed(&"it is encrypted with a passphrase"));
        }
        Err(error) => return Err(failed(&error)),
    };
    let own = Certificate::read(&chain[0]).ok_or_else(|| {
        tls_error(format!(
            "Unable to get certificate from '{}'",
            certificate.display()
        ))
    })?;
    let signing = provider()
        .key_provider
        .load_private_key(private)
        .map_err(|error| failed(&error))?;
    if signing
        .public_key()
        .is_some_and(|public| public.as_ref() != own.key_info)
    {
        return Err(tls_error(format!(
            "Private key does not match the certificate public key from '{}'",
            key.display()
        )));
    }
    Ok(CertifiedKey::new(chain, signing))
}
