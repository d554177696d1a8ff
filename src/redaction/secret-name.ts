import type { SecretKind } from './secret-kind.ts'
import { hasSecretUrl, isReference } from './secret-value.ts'
import {
  FLAGS,
  KEY_QUALIFIERS,
  NEUTRAL_ENDINGS,
  OTHER_ENDINGS,
  OTHER_KEYS,
  OTHER_TOKENS,
  PASS_QUALIFIERS,
  PASSWORD_WORDS,
  PAT_QUALIFIERS,
  SHORT_PASSWORD_WORDS,
  URL_NAMES,
} from './secret-words.ts'
import { wordSet } from './word-set.ts'

/** The kind of secret that a name announces; null if it announces none. The words of a name may be joined in any way. */
export function secretKindOf(name: string): SecretKind | null {
  const known = KINDS.get(name)
  if (known !== undefined) return known
  // A key is a member of many objects.
  const kind = /\.key$/i.test(name) ? null : kindOfWords(wordsOf(name), isAllCapitals(name))
  if (KINDS.size >= MAX_KINDS) KINDS.clear()
  KINDS.set(name, kind)
  return kind
}

/** Texts repeat the same names again and again. */
const KINDS = new Map<string, SecretKind | null>()
const MAX_KINDS = 2_000

/** Whether a variable of the environment carries a key or a password, by its name alone. */
export function isSecretName(name: string): boolean {
  if (EXPORTER_HEADERS.test(name)) return true
  const words = wordsOf(name)
  if (words.length === 1 && (words[0] === 'pwd' || words[0] === 'salt')) return false
  const kind = kindOfWords(words, true)
  return kind !== null && kind !== 'code'
}

/** The headers of OpenTelemetry exporters: for a hosted collector there is a key in them. */
const EXPORTER_HEADERS = /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/

/** The values of the variables that carry a secret. */
export function secretsIn(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) && !isReference(value) && mayBeSecretUrl(name, value)
      ? [value]
      : [],
  )
}

function mayBeSecretUrl(name: string, value: string): boolean {
  return secretKindOf(name) !== 'url' || hasSecretUrl(value)
}

/** Whether the value of this command line option is a secret: `--password`, `--api-key`, `-github-token`. */
export function isSecretOption(option: string): boolean {
  const name = option.replace(/^--?/, '')
  if (name.length === option.length || !/^[A-Za-z][\w.-]*$/.test(name)) return false
  const kind = kindOfWords(wordsOf(name), false)
  return kind === 'password' || kind === 'secret' || kind === 'token'
}

/** The words of a name: parts between separators, and those of camel case. */
export function wordsOf(name: string): string[] {
  const words: string[] = []
  let word = ''
  for (let at = 0; at < name.length; at++) {
    const character = name[at] as string
    if (!/[A-Za-z0-9]/.test(character)) {
      if (word !== '') words.push(word)
      word = ''
      continue
    }
    if (word !== '' && beginsWord(name, at)) {
      words.push(word)
      word = ''
    }
    word += character.toLowerCase()
  }
  if (word !== '') words.push(word)
  return words.flatMap(partsOfWord)
}

/** `apiKey` has a capital behind a small letter, `APIKey` one before a small letter. */
function beginsWord(name: string, at: number): boolean {
  if (!isUpper(name[at])) return false
  return !isUpper(name[at - 1]) || (isUpper(name[at - 1]) && isLower(name[at + 1]))
}

function isUpper(character: string | undefined): boolean {
  return character !== undefined && character >= 'A' && character <= 'Z'
}

function isLower(character: string | undefined): boolean {
  return character !== undefined && character >= 'a' && character <= 'z'
}

function isAllCapitals(name: string): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(name)
}

/** Words that are written as one: `apikey`, `PGPASSWORD`, `authtoken`, `password2`. */
function partsOfWord(word: string): string[] {
  const digits = /\d+$/.exec(word)?.[0] ?? ''
  const letters = word.slice(0, word.length - digits.length)
  if (digits !== '' && letters !== '') {
    const parts = partsOfWord(letters)
    return parts.length > 1 || isKeyword(letters) ? [...parts, digits] : [word]
  }
  for (const ending of GLUED)
    if (word.length > ending.length && word.endsWith(ending)) return [word.slice(0, -ending.length), ending]
  if (word.endsWith('key') && KEY_QUALIFIERS.has(word.slice(0, -3))) return [word.slice(0, -3), 'key']
  if (word.endsWith('keyid') && KEY_QUALIFIERS.has(word.slice(0, -5))) return [word.slice(0, -5), 'key', 'id']
  if (word.endsWith('pass') && PASS_QUALIFIERS.has(word.slice(0, -4))) return [word.slice(0, -4), 'pass']
  if (word.endsWith('pw') && PASS_QUALIFIERS.has(word.slice(0, -2))) return [word.slice(0, -2), 'pw']
  return [word]
}

const GLUED = wordSet('password passwd passphrase passcode secret token credentials credential')

function isKeyword(word: string): boolean {
  return (
    PASSWORD_WORDS.has(word) || SHORT_PASSWORD_WORDS.has(word) || ['secret', 'token', 'key'].includes(word)
  )
}

export function kindOfWords(words: readonly string[], isVariable: boolean): SecretKind | null {
  if (words.length >= 2 && URL_NAMES.has(words.slice(-2).join('_'))) return 'url'
  if (URL_NAMES.has(words.join('_'))) return 'url'
  for (let at = words.length - 1; at >= 0; at--) {
    const kind = kindAt(words, at)
    if (kind !== null) return mayFollow(words.slice(at + 1), words, isVariable) ? kind : null
  }
  return null
}

/** Whether these words behind the one that says it leave the name that of a secret. */
function mayFollow(endings: readonly string[], words: readonly string[], isVariable: boolean): boolean {
  if (endings.length === 0) return true
  if (endings.length === 1 && endings[0] === 'id')
    return (words.at(-2) === 'key' && words.at(-3) === 'access') || words.at(-2) === 'secret'
  return endings.every((word) =>
    isVariable
      ? !OTHER_ENDINGS.has(word)
      : NEUTRAL_ENDINGS.has(word) || (word.length < 4 && Number(word) >= 0),
  )
}

function kindAt(words: readonly string[], at: number): SecretKind | null {
  const word = words[at] as string
  const before = words[at - 1]
  if (PASSWORD_WORDS.has(word)) return before !== undefined && FLAGS.has(before) ? null : 'password'
  if (SHORT_PASSWORD_WORDS.has(word))
    return before !== undefined && PASS_QUALIFIERS.has(before) ? 'password' : 'possible'
  switch (word) {
    case 'secret':
      if (before !== undefined && FLAGS.has(before)) return null
      // `SecretID` is one, or the name of one.
      return words[at + 1] === 'id' ? 'token' : 'secret'
    case 'token':
      return before !== undefined && (OTHER_TOKENS.has(before) || FLAGS.has(before)) ? null : 'token'
    case 'key':
      return kindOfKey(before)
    case 'credential':
    case 'credentials':
    case 'creds':
      return before !== undefined && FLAGS.has(before) ? null : 'token'
    case 'auth':
      return at === words.length - 1 ? (before === undefined ? 'possible' : 'token') : null
    case 'pat':
      return before !== undefined && PAT_QUALIFIERS.has(before) ? 'token' : null
    case 'dsn':
      return 'url'
    case 'string':
      return before === 'connection' ? 'secret' : null
    case 'connectionstring':
      return 'secret'
    case 'phrase':
      return before === 'seed' || before === 'recovery' || before === 'secret' || before === 'backup'
        ? 'phrase'
        : null
    case 'mnemonic':
      return 'phrase'
    case 'jwt':
    case 'assertion':
      return 'token'
    case 'response':
      return before === 'saml' ? 'token' : null
    case 'verifier':
      return before === 'code' ? 'token' : null
    case 'api':
      return at === 0 ? 'possible' : null
    case 'sig':
    case 'signature':
    case 'salt':
    case 'pepper':
      return 'possible'
    case 'otp':
    case 'totp':
    case 'pin':
      return 'code'
    default:
      return null
  }
}

function kindOfKey(before: string | undefined): SecretKind | null {
  if (before === undefined || OTHER_KEYS.has(before)) return null
  if (before === 'private' || before === 'secret') return 'secret'
  if (KEY_QUALIFIERS.has(before)) return 'token'
  return before.length > 1 ? 'possible' : null
}
