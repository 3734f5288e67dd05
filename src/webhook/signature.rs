//! Checks that a sender knows the secret, in constant time.
//!
//! In:  secrets, and what the sender shows.
//! Out: whether they fit.
//! Invariant: how long a check takes says nothing about how much of a secret was right.
//! Source: HOOK-002, HOOK-003 (go-playground/webhooks 6.4.0).

use ring::hmac;

/// Whether `shown` is the HMAC-SHA256 of the body, as lower-case hex digits.
pub fn is_signed(secret: &str, body: &[u8], shown: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    shown == shown.to_ascii_lowercase() && decode(shown).is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
}

/// Whether both texts are the same.
pub fn is_same(secret: &str, shown: &str) -> bool {
    // Tags of one fixed key have one length whatever the texts are, and are compared in constant time.
    let key = hmac::Key::new(hmac::HMAC_SHA512, b"same");
    hmac::verify(&key, shown.as_bytes(), hmac::sign(&key, secret.as_bytes()).as_ref()).is_ok()
}

/// Bytes of hex digits.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_signature_of_the_whole_body_counts() {
        // From RFC 4231, test case 2.
        let good = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let body = b"what do ya want for nothing?";
        assert!(is_signed("Jefe", body, good));
        for bad in ["", "5b", &good[1..], &good.to_uppercase(), &good.replace('5', "6"), "zz", "é"] {
            assert!(!is_signed("Jefe", body, bad), "{bad}");
        }
        assert!(!is_signed("jefe", body, good));
        assert!(is_same("a", "a") && is_same("", "") && !is_same("a", "") && !is_same("a", "ab"));
    }
}
