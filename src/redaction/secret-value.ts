import type { SecretKind, ValueStyle } from './secret-kind.ts'
import { PLAIN_VALUES, SENTENCE_WORDS } from './secret-words.ts'

/** A value is searched for its end up to this length, and masked that far if it is longer. */
export const MAX_VALUE_BYTES = 4096
/** This much of a value is read in order to judge it. */
export const MAX_JUDGED_BYTES = 256
/** Longer values are judged by their first characters. */
const MAX_JUDGED_CHARS = 200

/** Whether a value is a secret, given the kind that its name announces and its notation. */
export function isSecretValue(kind: SecretKind, whole: string, style: ValueStyle): boolean {
  const value = whole.slice(0, MAX_JUDGED_CHARS)
  if (value === '' || isReference(value)) return false
  switch (kind) {
    case 'url':
      return hasSecretUrl(value)
    case 'code':
      return /^\d{4,10}$/.test(value) && style !== 'sentence'
    case 'phrase':
      return wordCount(value) >= 6 || (value.length >= 32 && looksGenerated(value))
    case 'possible':
      return isPossibleSecret(value, style)
    default:
      break
  }
  if (style === 'variable' ? isNoValue(value) : isPlain(value)) return false
  if (style !== 'quoted' && isCode(value)) return false
  if (style === 'variable') return !isPath(value) && (value.length > 1 || kind === 'password')
  if (!/[A-Za-z0-9]/.test(value)) return false
  if (kind === 'password') return isPassword(value, style)
  if (isPath(value) || isLink(value) || /^[[(^\\]/.test(value)) return false
  if (isSchemeAndToken(value)) return style !== 'sentence'
  if (style === 'header') return !value.includes(' ') && (looksGenerated(value) || value.length >= 8)
  if (kind === 'secret' && style === 'quoted')
    return looksGenerated(value) || (!isNameOfSomething(value) && !isSentence(value) && !isTitle(value))
  return looksGenerated(value)
}

/**
 * A value that stands for another one: `$TOKEN`, `<your token>`, `{{ token }}`, `%TOKEN%`, `xxxx`, `***`, `your-api-key`,
 * `process.env.TOKEN`. Programs, manuals and templates stay readable.
 */
export function isReference(value: string): boolean {
  const text = value.slice(0, MAX_JUDGED_CHARS)
  return (
    isBracketed(text) ||
    isFiller(text) ||
    /^(?:my|your|the|some)[A-Z]/.test(text) ||
    /^(?:your|my|the|some|example|sample|insert|replace|dummy|fake)[-_ ]/i.test(text) ||
    /[-_ ](?:here|goes-here|placeholder|example|me)$/i.test(text) ||
    /^(?:os|process|import|System|Deno|Bun|ENV|env|secrets|vars|vault|var|local|data|module)[.[(:]/.test(text)
  )
}

/** A URL with a password, or another way of saying where a database is that may hold one. */
export function hasSecretUrl(value: string): boolean {
  if (/^["']?(?:file:|sqlite|:memory:|[./~])/i.test(value)) return false
  const scheme = value.indexOf('://')
  if (scheme === -1) return value.length >= 6 && !isPlain(value) && !isCode(value)
  return value.includes('@', scheme) || /[?&](?:password|sslpassword|token|key)=/i.test(value)
}

/** Whether a generator has made it, by its mixture of letters and digits. Names that end with a number, like `key-2`, are not. */
export function looksGenerated(value: string): boolean {
  const text = value.slice(0, MAX_JUDGED_CHARS).replace(TERMS, '')
  if (text.length < 8 || /\s/.test(text)) return false
  const { digits, letters, changes, capitalPairs, mixed } = countsOf(text)
  if (text.length >= 12 && capitalPairs >= 2 && changes >= text.length * 0.35) return true
  if (digits === 0) return false
  if (letters === 0) return text.length >= 16 && digits >= 16
  return mixed || digits >= 5
}

/** Words with a number in them. */
const TERMS =
  /base(?:64|32)|sha(?:1|256|384|512)|utf-?(?:8|16)|md5|u?int(?:8|16|32|64)|float(?:32|64)|[ex]d?25519|x509|oauth2|http[12]|ipv[46]|i18n|b(?:16|32|64|85)(?=[a-z]{3})|l10n|a11y|e2e|win32|x86|amd64|arm64|aes(?:128|256)|es20\d\d|s3|ec2|v8|h2|p2p|k8s|r2|d3|o11y/gi

interface Counts {
  readonly digits: number
  readonly letters: number
  /** Between capitals and small letters: many more than between the words of camel case. */
  readonly changes: number
  /** Two capitals beside each other. */
  readonly capitalPairs: number
  /** A letter stands right behind a digit, which is not the `x` of `0x` or that of `2d`. */
  readonly mixed: boolean
}

function countsOf(text: string): Counts {
  let [digits, letters, changes, capitalPairs, behindDigits] = [0, 0, 0, 0, 0]
  let before = ''
  for (const character of text) {
    if (character >= '0' && character <= '9') digits++
    else if (/[A-Za-z]/.test(character)) {
      letters++
      if (before >= '0' && before <= '9') behindDigits++
      if (/[A-Za-z]/.test(before) && isCapital(before) !== isCapital(character)) changes++
      if (isCapital(before) && isCapital(character)) capitalPairs++
    }
    before = character
  }
  return {
    digits,
    letters,
    changes,
    capitalPairs,
    mixed: behindDigits >= 2 || (behindDigits === 1 && digits >= 2),
  }
}

function isCapital(character: string): boolean {
  return character >= 'A' && character <= 'Z'
}

/** `FlyV1 fm2_…`, `Bearer …`: the name of a scheme, and the token. */
function isSchemeAndToken(value: string): boolean {
  const token = /^[A-Za-z][\w-]{0,15} (\S{20,})$/.exec(value)?.[1]
  return token !== undefined && looksGenerated(token)
}

function isPossibleSecret(value: string, style: ValueStyle): boolean {
  if (isPlain(value) || isPath(value) || isLink(value) || (style !== 'quoted' && isCode(value))) return false
  if (style === 'variable' || style === 'header')
    return value.length >= 8 && (looksGenerated(value) || /[a-z][A-Z]|\d[A-Za-z]|[A-Z]{2}[a-z]/.test(value))
  return value.length >= 16 && looksGenerated(value)
}

/** Text behind `password`: nearly anything, except words that describe a password and texts of a form. */
function isPassword(value: string, style: ValueStyle): boolean {
  if (/^\d{1,3}$/.test(value) || isLink(value)) return false
  if (value.includes(' ')) return style !== 'sentence' && style !== 'bare' && !isSentence(value)
  switch (style) {
    case 'quoted':
      return !isTitle(value) && !isPath(value)
    case 'header':
    case 'setting':
      return !isPath(value) && !isTitle(value)
    default:
      return !isPath(value) && value.length >= 5 && hasDigitOrSymbol(value)
  }
}

function isSentence(value: string): boolean {
  const words = value.split(' ').filter((word) => word !== '')
  if (words.length < 2) return false
  return (
    isCapital(value.replace(/^[^A-Za-z]+/, '')[0] ?? '') ||
    words.some((word) => SENTENCE_WORDS.has(word.toLowerCase().replace(/[.,:;!?'"]+$/, '')))
  )
}

function wordCount(value: string): number {
  return value.split(/[ ,]+/).filter((word) => /^[a-z]{3,}$/i.test(word)).length
}

/** A label or placeholder instead of a value: `Password`, `NewPassword`, `passwordField`, `<input>`. */
function isTitle(value: string): boolean {
  return /^[A-Za-z_-]*(?:password|passwd|passphrase|secret|token|key)[A-Za-z_-]*[:?.!*]*$/i.test(value)
}

/** Words joined as names are, without a number that is more than a count: `my-secret`, `db_credentials`, `app.secret`. */
function isNameOfSomething(value: string): boolean {
  return (
    /^[A-Z_]+$/.test(value) || /^[A-Za-z]+\d{0,2}(?:[-_./:][A-Za-z]+\d{0,2}|[-_./:]\d{1,2})+$/.test(value)
  )
}

function hasDigitOrSymbol(value: string): boolean {
  return /\d/.test(value) ? /[A-Za-z]/.test(value) || value.length >= 6 : /[!@#$%^+~]/.test(value)
}

/** Durations, switches and placeholders, which variables hold instead of a secret. */
function isNoValue(value: string): boolean {
  if (/^\d+(?:ms|s|m|h|d|w)$/.test(value)) return true
  return /^["']?(?:true|false|null|none|nil|undefined|yes|no|on|off|value|string|changeme|\d{1,4})["']?[,;]?$/i.test(
    value,
  )
}

function isPlain(value: string): boolean {
  if (/^(?:\d{1,4}|0x[\da-f]{1,4}|\d+(?:ms|s|m|h|d|w|y|mb|kb|gb|k|%))$/i.test(value)) return true
  if (isVersion(value)) return true
  const bare = value.replace(/^[("'[*_]+|[)"'\]*_.,:;!?]+$/g, '')
  return bare === '' || PLAIN_VALUES.has(bare.toLowerCase())
}

/** A version or version range: `^1.2.3`, `>=1.0`, `v2.0.1-rc.1`. */
function isVersion(value: string): boolean {
  return /^[\^~<>=v]{0,2} ?\d+(?:\.(?:\d+|x|\*))+(?:[-+][\w.]+)?$/.test(value)
}

/** `$X`, `${X}`, `$(x)`, backticks, `{{ x }}`, `{x}`, `<x>`, `%X%`, `@X@`, `[x]`, `%s`. */
function isBracketed(text: string): boolean {
  const first = text[0]
  if (first === '$') {
    const name = /^\$([A-Za-z_][A-Za-z0-9_]*)/.exec(text)?.[1]
    if (name !== undefined) return name.includes('_') || !looksGenerated(name)
    return /^\$(?:[({[]|[0-9@*#?]$)/.test(text)
  }
  if (first === '<') return !looksGenerated(text.slice(1, -1))
  if (first === '`' || first === '{') return true
  if (first === '%') return /^%(?:[A-Za-z_][A-Za-z0-9_]*%(?:$|[^A-Za-z0-9])|[sdvq]$|\()/.test(text)
  if (first === '[') return /^\[[A-Za-z _.-]*\]?$/.test(text)
  return first === '@' && /^@[A-Z_]+@$/.test(text)
}

/** `xxxx`, `****`, `....`, `XXXX-XXXX`, also behind the beginning of a token: `sk-xxxx`, `ghp_****`. */
function isFiller(text: string): boolean {
  if (/\*{4}|x{5}|X{5}|\.{3}|^\xff$|\xe2\x80\xa6/.test(text)) return true
  return /^[xX*.\-_]+$/.test(text)
}

/** A path of files. Base64 may look like one, but has no short words between its slashes. */
function isPath(value: string): boolean {
  if (!/^["']?(?:~|\.{1,2})?\/[\w.@-]+|^["']?[A-Za-z]:\\/.test(value)) return false
  return value.split(/[/\\]/).every((part) => part.length < 24 || !looksGenerated(part))
}

function isLink(value: string): boolean {
  return /^["']?[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^arn:/.test(value)
}

/** An expression in source code: a variable, a call, a type, the member of an object. */
function isCode(value: string): boolean {
  const text = value.slice(0, MAX_JUDGED_CHARS)
  // Passwords may begin with a sign that begins an expression or a tag of YAML.
  if (/^[!&*][^\s,;(){}=]+$/.test(text) && looksGenerated(text.slice(1))) return false
  if (/^[!&*([]|^\/\^|=>|^(?:await|new|typeof|return|function|lambda|not|async) /.test(text)) return true
  const word = /^[A-Za-z_$@][\w$]*/.exec(text)?.[0] ?? ''
  // Names have no letter behind a digit, except well-known terms.
  if (word === '' || /\d[A-Za-z]/.test(word.replace(TERMS, ''))) return false
  const rest = text.slice(word.length)
  if (/^(?:qr|re?|m|s)\//.test(text)) return true
  if (looksGenerated(word)) return false
  if (/^(?:\(|\[|\?\.|::|->|\{|<|(?:\.\w+)+\()/.test(rest)) return true
  const members = /^(?:\.[A-Za-z_$][\w$]*)+/.exec(rest)?.[0]
  if (members !== undefined) return members.split('.').every((member) => !looksGenerated(member))
  return /^\s*(?:[;{]|\|\||&&|[|&] |[!=]=|,$|\)+[;,]?$|\)\.|\) )/.test(rest)
}
