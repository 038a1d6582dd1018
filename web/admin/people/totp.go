package people

import (
	"errors"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// What every authenticator app knows (RFC 6238): 6 digits by SHA-1, a new code each 30 s.
const (
	stepSeconds = 30
	digits      = otp.DigitsSix
	// skew is how many steps a phone's clock may be off, either way.
	skew = 1
)

// ErrCode means a one-time or recovery code that is wrong or was used before.
var ErrCode = errors.New("people: wrong or used code")

// NewTOTP makes a secret for an authenticator app: 160 bits in base32, and the otpauth://
// address that its picture has.
func NewTOTP(issuer, login string) (secret, address string, err error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: login, Period: stepSeconds, SecretSize: 20, Digits: digits, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "", "", err
	}
	return key.Secret(), key.URL(), nil
}

// AddressTOTP is the otpauth:// address of a secret that NewTOTP made.
func AddressTOTP(issuer, login, secret string) (string, error) {
	raw, err := letters.DecodeString(strings.ToUpper(secret))
	if err != nil {
		return "", err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: login, Period: stepSeconds, Secret: raw, Digits: digits, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "", err
	}
	return key.URL(), nil
}

// StepTOTP is the step whose code this is, if it is one of now and is later than the last
// step that was used: a code counts once (RFC 6238, section 5.2). The error is ErrCode.
func StepTOTP(secret, code string, now time.Time, last int64) (int64, error) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	at := now.Unix() / stepSeconds
	found := int64(0)
	for step := at - skew; step <= at+skew; step++ { // all of them, so that time tells nothing
		ok, err := hotp.ValidateCustom(code, uint64(step), secret, hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
		if err == nil && ok && found == 0 && step > last {
			found = step
		}
	}
	if found == 0 {
		return 0, ErrCode
	}
	return found, nil
}

// CodeTOTP is the code of a secret at a time, as the app would show it.
func CodeTOTP(secret string, at time.Time) (string, error) {
	return totp.GenerateCodeCustom(secret, at, totp.ValidateOpts{Period: stepSeconds, Digits: digits, Algorithm: otp.AlgorithmSHA1})
}

// recoveryCodes is how many a person gets at a time.
const recoveryCodes = 10

// NewRecovery makes codes for whoever lost the phone, each good once, and what is kept of
// them. A code is 80 random bits as 4 groups of 4.
func NewRecovery() (codes, hashes []string) {
	for range recoveryCodes {
		plain := random(10)
		codes = append(codes, plain[:4]+"-"+plain[4:8]+"-"+plain[8:12]+"-"+plain[12:])
		hashes = append(hashes, Hash(plain))
	}
	return codes, hashes
}

// plainRecovery is a recovery code without what people add or change when they type it.
func plainRecovery(code string) string {
	return strings.NewReplacer("-", "", " ", "", "0", "o", "1", "l").Replace(strings.ToLower(strings.TrimSpace(code)))
}
