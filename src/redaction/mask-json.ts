import { isCookieName } from './cookies.ts'
import { type Masker, stars } from './masker.ts'
import { isSecretName, isSecretOption, secretKindOf } from './secret-name.ts'
import { isSecretValue } from './secret-value.ts'
import { wordSet } from './word-set.ts'

/**
 * Masks the secrets in the texts of a JSON value; returns the same object if there are none. Texts count as command lines. A
 * member with a secret's name is masked whole, and so is the argument after `--password`. `leave`: these members stay.
 * `instead`: replaces these objects without a search.
 */
export function maskJson<Value>(
  masker: Pick<Masker, 'text'>,
  value: Value,
  { leave = NOTHING, instead = NO_OTHERS }: MaskJsonOptions = {},
): Value {
  return walk({ masker, leave, instead }, value, 0, false) as Value
}

interface MaskJsonOptions {
  /** `depth` is that of the object `of`. */
  readonly leave?: (member: string, depth: number, of: object) => boolean
  readonly instead?: ReadonlyMap<object, object>
}

interface Walk extends Required<MaskJsonOptions> {
  readonly masker: Pick<Masker, 'text'>
}

const NOTHING = () => false
const NO_OTHERS: ReadonlyMap<object, object> = new Map()

/** Deeper values are not shown. */
const MAX_DEPTH = 100
const TOO_DEEP = '***'

function walk(on: Walk, value: unknown, depth: number, isEnvironment: boolean): unknown {
  const { masker, leave, instead } = on
  if (typeof value === 'string') return masker.text(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return TOO_DEEP
  const other = instead.get(value)
  if (other !== undefined) return other
  if (Array.isArray(value)) return walkArray(on, value, depth)
  if (value instanceof Uint8Array) return value
  let changed: Record<string, unknown> | undefined
  let renames: Map<string, string> | undefined
  for (const [key, member] of Object.entries(value)) {
    if (leave(key, depth, value)) continue
    const shown =
      typeof member === 'string' &&
      (isSecretMember(value, key, member) || (isEnvironment && isSecretName(key)))
        ? stars(member)
        : typeof member === 'string' && isCookieName(key)
          ? masker.text(`${COOKIE}${member}`).slice(COOKIE.length)
          : isInput(key, member)
            ? masker.text(member, { lines: true })
            : walk(on, member, depth + 1, key === 'env' || key === 'variables')
    const name = masker.text(key)
    if (name !== key) {
      renames ??= new Map()
      renames.set(key, name)
    }
    if (shown === member) continue
    changed ??= { ...value }
    changed[key] = shown
  }
  return renames === undefined ? (changed ?? value) : renamed(changed ?? value, renames)
}

/**
 * Renames members in one pass, and keeps their order. Members with the same masked name get numbers. An object may have
 * thousands of them, so the next number of each name is remembered.
 */
function renamed(value: object, renames: ReadonlyMap<string, string>): Record<string, unknown> {
  const members = Object.entries(value)
  const taken = new Set(members.map(([key]) => key).filter((key) => !renames.has(key)))
  const nextNumbers = new Map<string, number>()
  const freeName = (name: string): string => {
    let number = nextNumbers.get(name) ?? 1
    let free = number === 1 ? name : `${name} ${number}`
    while (taken.has(free)) free = `${name} ${++number}`
    nextNumbers.set(name, number + 1)
    taken.add(free)
    return free
  }
  return Object.fromEntries(
    members.map(([key, member]) => {
      const name = renames.get(key)
      return [name === undefined ? key : freeName(name), member]
    }),
  )
}

function walkArray(on: Walk, items: readonly unknown[], depth: number): readonly unknown[] {
  let changed: unknown[] | undefined
  for (const [index, item] of items.entries()) {
    const before = items[index - 1]
    const isSecret =
      typeof item === 'string' &&
      typeof before === 'string' &&
      !item.startsWith('-') &&
      (isSecretOption(before) || (items.length === 2 && isSecretMember(items, before, item)))
    const shown = isSecret ? stars(item) : walk(on, item, depth + 1, false)
    if (shown === item) continue
    changed ??= [...items]
    changed[index] = shown
  }
  return changed ?? items
}

/**
 * A member with the name of a secret: a variable, `password`, or a name whose value looks secret; and the value of a pair,
 * `{ name: 'DB_PASSWORD', value: '…' }`. A `replayKey` or a `key` is no secret.
 */
function isSecretMember(of: object, key: string, member: string): boolean {
  if (
    (ENVIRONMENT.test(key) && isSecretName(key)) ||
    SECRET_MEMBERS.has(key.toLowerCase().replaceAll(/[-_]/g, ''))
  )
    return true
  const kind = secretKindOf(key === 'value' ? nameOfPair(of) : key)
  if (kind === null) return false
  return isSecretValue(kind, member, key.includes('-') ? 'header' : 'quoted')
}

function nameOfPair(of: object): string {
  const { name, key } = of as { readonly name?: unknown; readonly key?: unknown }
  return typeof name === 'string' ? name : typeof key === 'string' ? key : ''
}

const COOKIE = 'Cookie: '
const ENVIRONMENT = /^[A-Z][A-Z0-9_]*$/
const SECRET_MEMBERS = wordSet(
  'password passwd passphrase apikey accesstoken refreshtoken clientsecret ' +
    'privatekey secretkey secretaccesskey authorization xapikey proxyauthorization',
)

/** The input of a command is text with lines. */
function isInput(key: string, member: unknown): member is string {
  return key === 'text' && typeof member === 'string'
}
