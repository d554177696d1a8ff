import { argsForRules } from './subcommand.ts'
import { baseNameOf, literalToken, type SimpleCommand, type Token, UNKNOWN_WORDS } from './token.ts'
import { variableRunsPrograms } from './variables.ts'
import { SUBCOMMAND_WRAPPERS, USUAL_NAMES, WRAPPERS, type Wrapper } from './wrappers.ts'

/** What a command starts besides itself. */
export interface Unwrapped {
  readonly commands: readonly SimpleCommand[]
  /** The text of `sh -c`. */
  readonly script?: { readonly text: string; readonly shell: string }
  /** Whether the command does nothing but start these. */
  readonly transparent?: true
  /** Why the command that is started is not known, or not all of it. */
  readonly opaque?: string
}

const NOTHING: Unwrapped = { commands: [] }

/** The shells whose `-c` text is analysed. */
const ANALYSED_SHELLS = new Set(['sh', 'bash', 'dash', 'ash'])

/** The command behind a wrapper, the text of a shell, the commands of `find -exec`, and other names of the same command. */
export function unwrap(command: SimpleCommand): Unwrapped {
  const program = command.tokens[0]?.value
  if (program == null) return NOTHING
  const name = baseNameOf(program)
  const rest = command.tokens.slice(1)
  if (ANALYSED_SHELLS.has(name)) return shellText(name, rest)
  if (name === 'xargs' || name === 'gxargs') return xargsCommand(command, rest)
  if (name === 'find' || name === 'gfind') return findCommands(command, rest)
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (wrapper !== undefined) return wrappedCommand(name, wrapper, command.env, rest)
  return wrappedBySubcommand(name, command, rest) ?? { commands: otherNames(name, command, rest) }
}

function wrappedBySubcommand(
  name: string,
  command: SimpleCommand,
  rest: readonly Token[],
): Unwrapped | undefined {
  const wrappers = Object.hasOwn(SUBCOMMAND_WRAPPERS, name) ? SUBCOMMAND_WRAPPERS[name] : undefined
  if (wrappers === undefined) return undefined
  const { args, unknownOption } = argsForRules(name, valuesOf(rest))
  const subcommand = args[0]
  if (args.length > 0 && (subcommand == null || subcommand.startsWith('-')))
    return { commands: [], opaque: `${name} has an option that is not known` }
  if (subcommand == null) return undefined
  const behind = rest.slice(rest.length - args.length)
  // pnpm takes a name that it does not know for a script, and else for a program.
  if (name === 'pnpm' && unknownOption) return { commands: [{ tokens: behind, env: command.env }] }
  if (!Object.hasOwn(wrappers, subcommand)) return undefined
  const wrapped = wrappedCommand(name, wrappers[subcommand]!, command.env, behind.slice(1))
  return { ...wrapped, commands: [...otherNames(name, command, rest), ...wrapped.commands] }
}

/** `git-push` and `npm i` under the names that a rule probably has. */
function otherNames(name: string, { tokens, env }: SimpleCommand, rest: readonly Token[]): SimpleCommand[] {
  if (name.startsWith('git-') && name !== 'git-')
    return [{ tokens: [literalToken('git'), literalToken(name.slice('git-'.length)), ...rest], env }]
  if (name === 'hub') return [{ tokens: [literalToken('git'), ...rest], env }]
  if (name === 'docker-compose')
    return [{ tokens: [literalToken('docker'), literalToken('compose'), ...rest], env }]
  const names = Object.hasOwn(USUAL_NAMES, name) ? USUAL_NAMES[name] : undefined
  if (names === undefined) return []
  const { args } = argsForRules(name, valuesOf(rest))
  const [first, second] = args
  const isGroup = [...names.keys()].some((one) => one.startsWith(`${first} `))
  // `docker container $x` may be any of the group.
  if (isGroup && (second == null || second.startsWith('-')))
    return [{ tokens: [tokens[0]!, UNKNOWN_WORDS], env }]
  for (const length of [1, 2]) {
    const usual = names.get(args.slice(0, length).join(' '))
    if (usual === undefined) continue
    const behind = rest.slice(rest.length - args.length + length)
    return [{ tokens: [tokens[0]!, literalToken(usual), ...behind], env }]
  }
  return []
}

function wrappedCommand(
  name: string,
  wrapper: Wrapper,
  env: readonly string[],
  args: readonly Token[],
): Unwrapped {
  const found = skipOptions(name, wrapper, args)
  if ('opaque' in found) return { commands: [], opaque: wrapper.opaque ?? found.opaque }
  const { tokens, isLookup } = found
  let { start } = found
  const set: string[] = []
  for (; wrapper.assigns && start < tokens.length; start++) {
    const { value, start: text, isSplit } = tokens[start]!
    const assigned = /^([^=]+)=([\s\S]*)$/.exec(text)
    if (assigned === null) break
    if (variableRunsPrograms(assigned[1]!, value === null ? null : assigned[2]!))
      return { commands: [], opaque: `${name} sets ${assigned[1]}, which may run programs` }
    // An unquoted variable behind the name becomes more words: the program may be one of them.
    if (isSplit) return { commands: [], opaque: `${name} has arguments that are not literal` }
    set.push(assigned[1]!)
  }
  const rest = tokens.slice(start + wrapper.operands)
  const opaque = wrapper.opaque === undefined ? {} : { opaque: wrapper.opaque }
  if (isLookup || rest.length === 0) return { commands: [], ...opaque }
  const transparent = wrapper.transparent === undefined ? {} : { transparent: wrapper.transparent }
  return { commands: [{ tokens: rest, env: [...env, ...set] }], ...opaque, ...transparent }
}

type Skipped =
  | { readonly tokens: readonly Token[]; readonly start: number; readonly isLookup: boolean }
  | { readonly opaque: string }

/** Where the arguments behind the wrapper's own options start. */
function skipOptions(name: string, wrapper: Wrapper, args: readonly Token[]): Skipped {
  let tokens = args
  let isLookup = false
  let start = 0
  const notLiteral = { opaque: `${name} has arguments that are not literal` }
  while (start < tokens.length) {
    const { value, mayBeOption } = tokens[start]!
    if (value === null && mayBeOption) return notLiteral
    if (value === '--') {
      start++
      break
    }
    // A lone dash is `env -i`.
    if (value === '-' && name === 'env') {
      start++
      continue
    }
    if (value === null || !value.startsWith('-') || value === '-') break
    if (name === 'env' && /^(-[i0v]*S|--split-string)/.test(value)) {
      const split = tokens === args ? splitString(value, tokens.slice(start)) : undefined
      if (split === undefined) return { opaque: 'env -S has text that is not analysed' }
      tokens = split
      start = 0
      continue
    }
    const length = value.startsWith('--') ? longOption(wrapper, value) : shortOptions(wrapper, value)
    if (length === 0) {
      if (wrapper.lookups === undefined || !new RegExp(`^-[p${wrapper.lookups}]+$`).test(value))
        return { opaque: `${name} has the option ${value}, which is not known` }
      isLookup = true
    }
    // A value that is not literal may be no word or several, so the command may begin anywhere behind it.
    if (length === 2 && tokens[start + 1]?.isSplit) return notLiteral
    start += Math.max(length, 1)
  }
  if (tokens.slice(start, start + wrapper.operands).some(({ isSplit }) => isSplit)) return notLiteral
  return { tokens, start, isLookup }
}

/** How many arguments a long option takes, itself included; 0 if it is not known. */
function longOption(wrapper: Wrapper, value: string): number {
  const end = value.indexOf('=')
  const option = value.slice(2, end === -1 ? undefined : end)
  if (wrapper.longFlags.includes(option)) return 1
  if (!wrapper.longValued.includes(option)) return 0
  return end === -1 ? 2 : 1
}

function shortOptions(wrapper: Wrapper, value: string): number {
  for (let i = 1; i < value.length; i++) {
    const letter = value[i]!
    if (wrapper.valued.includes(letter)) return i === value.length - 1 ? 2 : 1
    if (!wrapper.flags.includes(letter)) return 0
  }
  return 1
}

/** `env -S 'git push'`: only words without quotes, escapes and variables. */
function splitString(option: string, tokens: readonly Token[]): Token[] | undefined {
  const attached = option.startsWith('--')
    ? /^--split-string=(.*)$/s.exec(option)?.[1]
    : /^-[i0v]*S(.+)$/s.exec(option)?.[1]
  const text = attached ?? tokens[1]?.value
  if (text == null || !/^[\w./=:@%+, -]*$/.test(text)) return undefined
  const words = text.split(' ').filter((word) => word !== '')
  return [...words.map(literalToken), ...tokens.slice(attached === undefined ? 2 : 1)]
}

/** The text behind `-c`. Anything else is a script file, an input or an interactive shell. */
function shellText(name: string, args: readonly Token[]): Unwrapped {
  const opaque = (reason: string): Unwrapped => ({ commands: [], opaque: `${name} ${reason}` })
  let hasText = false
  for (let i = 0; i < args.length; i++) {
    const { value } = args[i]!
    if (value === null) return opaque('has arguments that are not literal')
    if (value === '--version' && args.length === 1) return NOTHING
    if (/^--(login|norc|noprofile|posix|verbose)$/.test(value)) continue
    if (/^[-+][a-zA-Z]+$/.test(value)) {
      if (!/^[-+][abceflnuvxo]+$/.test(value)) return opaque(`has the option ${value}, which is not known`)
      if (value.startsWith('-') && value.includes('c')) hasText = true
      if (!value.includes('o')) continue
      if (!/^(pipefail|errexit|nounset|xtrace|posix|noglob|noclobber)$/.test(args[++i]?.value ?? ''))
        return opaque('has an option that is not known')
      continue
    }
    if (value.startsWith('-') && value !== '--') return opaque(`has the option ${value}, which is not known`)
    const text = value === '--' ? args[i + 1]?.value : value
    if (!hasText) return opaque('runs a script')
    if (text == null) return opaque('has text that is not literal')
    return { commands: [], script: { text, shell: name }, transparent: true }
  }
  return opaque('reads commands from its input')
}

const XARGS: Wrapper = {
  flags: '0rtpxo',
  valued: 'adEILnPsJRS',
  longFlags: [
    'null',
    'no-run-if-empty',
    'verbose',
    'interactive',
    'exit',
    'open-tty',
    'replace',
    'eof',
    'max-lines',
  ],
  longValued: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
  operands: 0,
}

function xargsCommand(command: SimpleCommand, args: readonly Token[]): Unwrapped {
  const found = skipOptions('xargs', XARGS, args)
  if ('opaque' in found) return { commands: [], opaque: found.opaque }
  const own = valuesOf(args.slice(0, found.start))
  const marks = own.flatMap((value, index) => {
    if (value === '--replace') return ['{}']
    const attached = /^(?:-[0rtpxo]*[IJ]|--replace=)(.+)$/s.exec(value ?? '')?.[1]
    if (attached !== undefined) return [attached]
    return /^-[0rtpxo]*[IJ]$/.test(value ?? '') ? [own[index + 1] ?? ''] : []
  })
  const rest = args.slice(found.start)
  if (rest.length === 0) return NOTHING
  const tokens = marks.length === 0 ? [...rest, UNKNOWN_WORDS] : rest.map((token) => replaced(token, marks))
  return { commands: [{ tokens, env: command.env }] }
}

/** The word with the mark of `xargs -I` or the `{}` of `find` replaced by text that is not known. */
function replaced(token: Token, marks: readonly string[]): Token {
  const { value } = token
  return value !== null && marks.some((mark) => mark === '' || value.includes(mark)) ? UNKNOWN_WORDS : token
}

const FIND_STARTS = new Set(['-exec', '-execdir', '-ok', '-okdir'])

function findCommands(command: SimpleCommand, args: readonly Token[]): Unwrapped {
  const commands: SimpleCommand[] = []
  const mayExecute = args.some(({ value }) => value === ';' || value === '+')
  let start: number | undefined
  for (const [index, token] of args.entries()) {
    // A variable may be `-exec`.
    if (start === undefined && token.value === null && token.mayBeOption && (token.isSplit || mayExecute))
      return { commands, opaque: 'find has arguments that are not literal' }
    if (start === undefined && FIND_STARTS.has(token.value ?? '')) start = index + 1
    else if (start !== undefined && endsExec(token, args[index - 1])) {
      commands.push(executed(args.slice(start, index), command.env))
      start = undefined
    }
  }
  if (start !== undefined) commands.push(executed(args.slice(start), command.env))
  return { commands: commands.filter(({ tokens }) => tokens.length > 0) }
}

function executed(tokens: readonly Token[], env: readonly string[]): SimpleCommand {
  return { tokens: tokens.map((token) => replaced(token, ['{}'])), env }
}

/** A plus ends the command only behind `{}`. */
function endsExec({ value }: Token, before: Token | undefined): boolean {
  return value === ';' || (value === '+' && before?.value === '{}')
}

function valuesOf(tokens: readonly Token[]): (string | null)[] {
  return tokens.map(({ value }) => value)
}
