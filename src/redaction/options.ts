import {
  AMPERSAND,
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  CLOSING_PARENTHESIS,
  COLON,
  DASH,
  EQUALS,
  isBlank,
  isIn,
  isQuote,
  NAME,
  PERCENT,
  PIPE,
  SEMICOLON,
  standsAt,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import { mayEndName } from './name-before.ts'
import type { SecretKind } from './secret-kind.ts'
import { secretKindOf } from './secret-name.ts'
import { isReference, isSecretValue, MAX_JUDGED_BYTES, MAX_VALUE_BYTES } from './secret-value.ts'
import { textOf } from './text-of.ts'

/**
 * The value of an option of a command that is a secret: `--password 'two words'`, `--token=…`, `-phunter2` of MySQL, `-u
 * user:password` of curl. `at` is the first dash. Answers with where the value ends; with `at` if there is nothing to hide.
 *
 * Distinguishes command lines from text about commands, in which words that describe a value stay.
 */
export function findOption(found: Findings, at: number): number {
  const { bytes, start } = found
  const before = bytes[at - 1]
  if (at > start && !isBlank(before) && !isQuote(before) && !endsLine(before)) return at
  const isLong = bytes[at + 1] === DASH
  if (!isLong && !isIn(bytes[at + 1], NAME)) return at
  const name = isLong ? at + 2 : at + 1
  let to = name
  while (to < found.end && to - name < MAX_OPTION_BYTES && isIn(bytes[to], WORD)) to++
  if (to - name < 1) return at
  if (!isLong && to - name >= 1) {
    const short = findShort(found, at, to)
    if (short !== at) return short
  }
  if (standsAt(bytes, name, 'pass')) {
    const passed = findPassed(found, name, to)
    if (passed !== -1) return passed
  }
  if (to - name < 2 || !mayEndName(bytes, to)) return at
  const kind = secretKindOf(textOf(bytes, name, to))
  if (kind === null || kind === 'possible' || kind === 'code') return at
  return findValue(found, at, to, kind)
}

/** `-passin pass:…` and `-passout pass:…` of OpenSSL; -1 if it is another option, or names a file. */
function findPassed(found: Findings, name: number, nameEnd: number): number {
  const { bytes } = found
  if (!/^pass(?:in|out)?$/.test(textOf(bytes, name, nameEnd))) return -1
  const value = wordAt(found, nameEnd)
  if (value === null || !standsAt(bytes, value.from, PASS)) return -1
  const from = value.from + PASS.length
  if (found.mayContinue(value.to)) found.addTentative(from, value.to)
  else if (!isReference(textOf(bytes, from, Math.min(value.to, from + MAX_JUDGED_BYTES))))
    found.add(from, value.to)
  return value.to
}

const PASS = 'pass:'
const MAX_OPTION_BYTES = 64
const MAX_COMMAND_BYTES = 256

/** The word behind an option, as it is quoted. */
function findValue(found: Findings, at: number, behind: number, kind: SecretKind): number {
  const { bytes } = found
  const value = wordAt(found, behind)
  if (value === null) return at
  const { from, to, isQuoted } = value
  if (found.mayContinue(to) || found.mayContinue(behind)) {
    found.addTentative(Math.min(from, found.end), to)
    return to
  }
  if (bytes[from] === DASH && !isQuoted) return at
  const text = textOf(bytes, from, Math.min(to, from + MAX_JUDGED_BYTES))
  const isCommand = !found.lines || isTrace(found, at)
  if (!isCommand && !isQuoted && /^[A-Z_]+$/.test(text)) return at
  const style = isCommand ? 'variable' : isQuoted ? 'quoted' : 'bare'
  if (!isSecretValue(isQuoted && kind === 'token' ? 'secret' : kind, text, style)) return at
  found.add(from, to)
  return to
}

interface Word {
  readonly from: number
  readonly to: number
  readonly isQuoted: boolean
}

/** The next word behind a blank or `=`; quotation marks around it are not part of it. */
function wordAt({ bytes, end }: Findings, behind: number): Word | null {
  let from = behind
  if (bytes[from] === EQUALS) from++
  else {
    while (from < end && isBlank(bytes[from])) from++
    if (from === behind && from < end) return null
  }
  const most = Math.min(end, from + MAX_VALUE_BYTES)
  const escaped = bytes[from] === BACKSLASH && isQuote(bytes[from + 1]) ? 1 : 0
  const quote = bytes[from + escaped]
  if (isQuote(quote)) {
    let to = from + escaped + 1
    while (to < most && bytes[to] !== quote && !endsLine(bytes[to])) to++
    return { from: from + escaped + 1, to: bytes[to] === quote ? to - escaped : to, isQuoted: true }
  }
  let to = from
  while (
    to < most &&
    !isBlank(bytes[to]) &&
    !endsLine(bytes[to]) &&
    !isQuote(bytes[to]) &&
    !ENDS.has(bytes[to] ?? 0)
  )
    to++
  return { from, to, isQuoted: false }
}

/** `;`, `|`, `)`, `]`, `}` */
const ENDS: ReadonlySet<number> = new Set([
  SEMICOLON,
  PIPE,
  CLOSING_PARENTHESIS,
  CLOSING_BRACKET,
  CLOSING_BRACE,
])

/** Lines in which a shell traces a command: `+ curl …`, `$ curl …`. */
function isTrace({ bytes, start }: Findings, at: number): boolean {
  const first = Math.max(start, at - MAX_COMMAND_BYTES)
  let line = at
  while (line > first && !endsLine(bytes[line - 1])) line--
  const text = textOf(bytes, line, Math.min(at, line + 8))
  return /^\s*(?:\+{1,4}|[$#%>❯]) /.test(text)
}

/** Short options with a secret, by the command: with a blank or without, or only without one. */
interface ShortOption {
  readonly letter: string
  readonly kind: 'value' | 'attached' | 'user'
}

const SHORT_OPTIONS = new Map<string, readonly ShortOption[]>()
for (const [commands, letter, kind] of [
  ['mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump mariadb-admin', 'p', 'attached'],
  ['7z 7za 7zr rar unrar', 'p', 'attached'],
  [
    'sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh docker podman az influx nerdctl helm',
    'p',
    'value',
  ],
  ['oc kinit svn skopeo buildah crane pg_basebackup ftp ncftp lftp smbclient', 'p', 'value'],
  ['sqlcmd bcp mosquitto_pub mosquitto_sub zip unzip tsql isql', 'P', 'value'],
  ['redis-cli valkey-cli keydb-cli', 'a', 'value'],
  ['ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami', 'w', 'value'],
  ['curl http https xh', 'u', 'user'],
  ['http https xh', 'a', 'user'],
  ['smbclient', 'U', 'user'],
] as const)
  for (const command of commands.split(' '))
    SHORT_OPTIONS.set(command, [...(SHORT_OPTIONS.get(command) ?? []), { letter, kind }])

/** Long options of one dash, or of a kind of their own, by their whole name. */
function findShort(found: Findings, at: number, nameEnd: number): number {
  const { bytes } = found
  if (!LETTERS.has(bytes[at + 1] ?? 0)) return at
  const command = commandBefore(found, at)
  const letter = String.fromCharCode(bytes[at + 1] ?? 0)
  const option = (SHORT_OPTIONS.get(command) ?? []).find((one) => one.letter === letter)
  if (option === undefined) return at
  const isAttached =
    nameEnd > at + 2 || (bytes[at + 2] !== undefined && !isBlank(bytes[at + 2]) && bytes[at + 2] !== EQUALS)
  if (option.kind === 'attached' && !isAttached) return at
  const value = isAttached ? attachedTo(found, at + 2) : wordAt(found, at + 2)
  if (value === null || value.to <= value.from) return at
  const from = option.kind === 'user' ? behindColon(bytes, value) : value.from
  if (found.mayContinue(value.to)) {
    found.addTentative(from === -1 ? value.to : from, value.to)
    return value.to
  }
  if (from === -1 || from >= value.to) return at
  const text = textOf(bytes, from, Math.min(value.to, from + MAX_JUDGED_BYTES))
  if (isReference(text) || text.startsWith('-') || (found.lines && /^[A-Z_]+$/.test(text))) return at
  // `docker run -p 8080:80` maps a port; only its login has a password.
  if (/^[\d.:/-]+$/.test(text) && text.length < 5) return at
  if (/^[\d.]+(?::[\d.]+)+(?:\/\w+)?$/.test(text)) return at
  found.add(from, value.to)
  return value.to
}

const LETTERS: ReadonlySet<number> = new Set([...'pPawuU'].map((letter) => letter.charCodeAt(0)))

function attachedTo(found: Findings, from: number): Word | null {
  const { bytes, end } = found
  if (isQuote(bytes[from])) return wordAt(found, from)
  let to = from
  while (
    to < end &&
    to - from < MAX_VALUE_BYTES &&
    !isBlank(bytes[to]) &&
    !endsLine(bytes[to]) &&
    !isQuote(bytes[to])
  )
    to++
  return { from, to, isQuoted: false }
}

/** The password of `user:password`, or of `user%password`. */
function behindColon(bytes: Uint8Array, { from, to }: Word): number {
  for (let at = from; at < to; at++) if (bytes[at] === COLON || bytes[at] === PERCENT) return at + 1
  return -1
}

/** The name of the command that an option is given to: the first word behind `;`, `|`, `&&`, `$`, `sudo` or a variable. */
function commandBefore({ bytes, start }: Findings, at: number): string {
  const first = Math.max(start, at - MAX_COMMAND_BYTES)
  let from = at
  while (
    from > first &&
    !endsLine(bytes[from - 1]) &&
    bytes[from - 1] !== SEMICOLON &&
    bytes[from - 1] !== PIPE &&
    bytes[from - 1] !== AMPERSAND
  )
    from--
  const text = textOf(bytes, from, at)
  let command = ''
  for (const [word] of text.matchAll(/\S+/g)) {
    if (NO_COMMAND.test(word)) continue
    command = word
    break
  }
  const name = command.replace(/^.*[/("'`]/, '').toLowerCase()
  return NEEDS_LOGIN.has(name) && !/(?:^|\s)login\s/.test(text) ? '' : name
}

/** Words that may stand before the name of a command. */
const NO_COMMAND =
  /^(?:[+$#%>(]+|sudo|env|exec|time|nohup|command|then|do|if|run|RUN|CMD|[\d:.,TZ[\]|-]+|[A-Za-z_]\w*=.*|["'`({]*)$/
const NEEDS_LOGIN: ReadonlySet<string> = new Set(['docker', 'podman', 'nerdctl', 'helm', 'az', 'oc'])
