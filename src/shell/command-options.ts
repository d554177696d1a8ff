import { gitRunsCommand } from './git.ts'
import type { Token } from './token.ts'

type Check = (args: readonly Token[]) => boolean

/** Programs with options that run a command. A program that runs what the files of a project say (make, npm test) is not opaque. */
const CHECKS: Readonly<Record<string, Check>> = {
  tar: tarRunsCommand,
  gtar: tarRunsCommand,
  bsdtar: anyOption(/^--use|^-[a-zA-Z]*I/),
  rsync: anyOption(/^--rs|^-[a-zA-Z0-9]*e/),
  scp: anyOption(/^-[a-zA-Z0-9]*[oSFD]/),
  sftp: anyOption(/^-[a-zA-Z0-9]*[oSFbD]/),
  sort: anyOption(/^--co/),
  split: anyOption(/^--fi/),
  zip: anyOption(/^-[a-zA-Z]*TT|^--unz/),
  less: anyOption(/^\+|^-[a-zA-Z]*[kP]|^--lesskey/),
  more: anyOption(/^\+/),
  man: anyOption(/^-[a-zA-Z]*[PHpCX]|^--(pag|htm|pre|conf|gxd)/),
  make: makeRunsCommand,
  gmake: makeRunsCommand,
  cmake: anyOption(/^-[EP]/),
  gcc: anyOption(/^-wrapper|^-fplugin|^-B|^-specs|^--specs|^@/),
  go: (args) => args[0]?.value === 'run' || anyOption(/^--?(exec|toolexec|vettool)/)(args),
  ip: (args) => args.some(({ value }) => value === null || /^exec?$/.test(value)),
  wget: anyOption(/^--use-a|^-[a-zA-Z]*e|^--ex/),
  awk: awkRunsCommand,
  gawk: awkRunsCommand,
  mawk: awkRunsCommand,
  nawk: awkRunsCommand,
  sed: sedRunsCommand,
  gsed: sedRunsCommand,
  // Reeve's own subcommands that start something, as the user and not as the agent that runs the line.
  reeve: (args) => !/^(ps|log|poll|status|help|version|usage|screen|search)$/.test(args[0]?.value ?? ''),
  npm: anyOption(
    /script-shell|node-options|^--(shell|editor|git|userconfig|globalconfig|init-module|viewer|call)|^-c/,
  ),
  npx: anyOption(/script-shell|node-options|^--(shell|call|userconfig)|^-c/),
  pnpm: anyOption(/script-shell|shell-mode|node-options|^-[a-zA-Z]*c/),
  yarn: anyOption(/script-shell|node-options|^--use-yarnrc/),
}

/** Why an option of a program that is otherwise harmless runs a command, if so. */
export function optionRunsCommand(name: string, args: readonly Token[]): string | undefined {
  if (name === 'git') return gitRunsCommand(args)
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined
  return check?.(args) ? `${name} has options that may run a command` : undefined
}

/** Whether one of the arguments is such an option, or could be one. */
function anyOption(pattern: RegExp): Check {
  return (args) => {
    const end = args.findIndex(({ value }) => value === '--')
    const options = end === -1 ? args : args.slice(0, end)
    return options.some(({ value, mayBeOption }) => (value === null ? mayBeOption : pattern.test(value)))
  }
}

/** Also the abbreviations of long options, and the first argument without a dash. */
function tarRunsCommand(args: readonly Token[]): boolean {
  return (
    /^[a-zA-Z]*[IF]/.test(args[0]?.value ?? '') ||
    anyOption(/^--(to|che|use|rsh|inf|new)|^-[a-zA-Z]*[IF]/)(args)
  )
}

/** A makefile from a file of the project is as harmless as any script of it; text and another makefile on the line are not. */
function makeRunsCommand(args: readonly Token[]): boolean {
  return args.some(({ value, start, isSplit, mayBeOption }) => {
    if (value === null) return mayBeOption && (isSplit || !start.startsWith('-j'))
    return /^--(ev|fi|mak|inc)|^-[a-zA-Z]*[fIE]|^\.?SHELL|^[^=]*=.*[$`]/s.test(value)
  })
}

/** Accepts a program text without pipes, `system` and files of code. */
function awkRunsCommand(args: readonly Token[]): boolean {
  let isText = true
  for (let i = 0; i < args.length; i++) {
    const value = args[i]!.value
    if (value === null && (isText || args[i]!.mayBeOption)) return true
    if (value === null || !isText) continue
    if (value === '-F' || value === '-v') {
      i++
      if (args[i]?.value == null) return true
    } else if (/^-(F.+|v\w+=)/s.test(value)) continue
    else if (value.startsWith('-')) return true
    else {
      if (/system|getline|[|@]/.test(value.replaceAll('||', ''))) return true
      isText = false
    }
  }
  return false
}

/**
 * One command of sed that neither runs nor writes, with the separator behind it: an address with a plain command, or a
 * substitution with plain flags.
 */
const SED_ADDRESS = String.raw`(?:\d+|\$|/${sedPattern('/')}/I?)`
const SED_SUBSTITUTION = String.raw`s([/|#,@:!_])${sedPattern('\\1')}\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*`
const SED_COMMAND = new RegExp(
  String.raw`(?:${SED_ADDRESS}(?:,(?:${SED_ADDRESS}|[+~]\d+))?)? ?!?` +
    String.raw`(?:[pdqQDPNnhHgGx=]|${SED_SUBSTITUTION})? ?(?:[;\n][ \n]*|$)`,
  'y',
)

/** Programs called sed differ in whether a delimiter within brackets ends the pattern, so it must have none. */
function sedPattern(delimiter: string): string {
  const brackets = String.raw`\[(?!\^?\])\^?(?:\[:\w+:\]|(?!${delimiter})[^\]\[\\\n])+\]`
  return String.raw`(?:${brackets}|\\[^\n]|(?!${delimiter})[^\\\n\[])*`
}

/** Longer scripts are opaque. */
const MAX_SED_CHARS = 2_000

function sedRunsCommand(args: readonly Token[]): boolean {
  let hasScript = false
  for (let i = 0; i < args.length; i++) {
    const { value, mayBeOption } = args[i]!
    if (value === null) {
      if (!hasScript || mayBeOption) return true
      continue
    }
    if (value === '-e' || value === '--expression') {
      hasScript = true
      i++
      if (!isHarmlessSed(args[i]?.value ?? null)) return true
    } else if (
      /^(-[nErzsu]+|-i|-i\.\w+|--quiet|--silent|--regexp-extended|--in-place|--sandbox|--posix)$/.test(value)
    )
      continue
    else if (value.startsWith('-') && value !== '-') return true
    else if (!hasScript) {
      hasScript = true
      if (!isHarmlessSed(value)) return true
    }
  }
  return false
}

function isHarmlessSed(script: string | null): boolean {
  if (script === null || script.length > MAX_SED_CHARS) return false
  const text = script.trim()
  for (let at = 0; at < text.length; at = SED_COMMAND.lastIndex) {
    SED_COMMAND.lastIndex = at
    if (!SED_COMMAND.test(text)) return false
  }
  return true
}
