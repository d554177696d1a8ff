import { ReeveError } from '../core/errors.ts'
import { unknownSubcommand } from './aliases.ts'
import { Context, type Surroundings } from './context.ts'
import { exitCodeFor, FAILED, USAGE } from './exit-code.ts'
import { GLOBAL_OPTIONS, type GlobalOptions } from './global-options.ts'
import { type Called, inOptions } from './in-options.ts'
import type { OptionSpecs, Options } from './options.ts'
import { parseArguments } from './parse.ts'
import { Printer } from './print/printer.ts'
import { UsageError } from './usage-error.ts'
import type { Word } from './word.ts'
import { words } from './word-table.ts'

const KNOWN_WORDS = 'Run reeve --help for the words it knows.'
const FLAG_WORDS: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' }

/** The `reeve` program: one word, its options and arguments. Answers with the exit code. */
export async function cli(given: readonly string[], around: Surroundings): Promise<number> {
  // The word may be preceded by what every word takes: reeve --home there ps.
  let name: string | undefined
  let rest: readonly string[] = []
  let leading: readonly string[] = []
  try {
    ;[leading, name, rest] = split(given)
    if (name === undefined) return await withoutWord(leading, around)
    const found = words.load(name)
    if (found === undefined) throw unknownSubcommand(name, words.names)
    return await perform(await found, [...leading, ...rest], around)
  } catch (error) {
    return failed(error, new Printer(around, jsonAsked(given)), FAILED)
  }
}

async function perform(word: Word, given: readonly string[], around: Surroundings): Promise<number> {
  let context: Context<Options<OptionSpecs>> | undefined
  let called: Called | undefined
  try {
    const more = word.moreOptions === undefined ? {} : await word.moreOptions(around.daemon)
    const specs = { ...GLOBAL_OPTIONS, ...more, ...word.options }
    const help = `Run reeve ${word.name} --help for what it takes.`
    const { options, args, texts } = parseArguments(given, specs, {
      stopEarly: word.stopEarly ?? false,
      help,
    })
    called = { fields: word.fields ?? {}, specs, texts }
    context = new Context(options as GlobalOptions & Options<OptionSpecs>, args, around, words)
    if (!context.options.help) return await word.run(context)
    const { subcommandHelp } = await import('./help-text.ts')
    const lines = subcommandHelp(word, { ...word.options, ...more }, context.print.colours, context.print.width)
    for (const line of lines) context.print.line(line)
    return 0
  } catch (error) {
    const print = context?.print ?? new Printer(around, jsonAsked(given))
    const said = error instanceof ReeveError && called !== undefined ? inOptions(error, called) : error
    return failed(said, print, word.failure ?? FAILED)
  } finally {
    await context?.close()
  }
}

/** `failure` is the word's own code for what went wrong in Reeve; a wrong call is 2 in any case. */
function failed(error: unknown, print: Printer, failure: number): number {
  if (error instanceof UsageError) {
    print.failure({ code: 'usage', message: error.message, remedy: error.remedy })
    return failure === FAILED ? USAGE : failure
  }
  if (error instanceof ReeveError) {
    print.failure(error)
    return failure === FAILED ? exitCodeFor(error.code) : failure
  }
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error)
  print.failure({ code: 'internal', message: said, remedy: 'This is a defect of Reeve: please report it.' })
  return failure
}

/** Options before the word, the word, and what follows it. */
function split(given: readonly string[]): [string[], string | undefined, readonly string[]] {
  const leading: string[] = []
  let at = 0
  for (; at < given.length; at++) {
    const text = given[at] ?? ''
    if (!text.startsWith('-') || Object.hasOwn(FLAG_WORDS, text)) break
    leading.push(text)
    const spec = GLOBAL_OPTIONS[text.slice(2) as keyof typeof GLOBAL_OPTIONS]
    if (spec !== undefined && spec.type !== 'flag' && at + 1 < given.length) leading.push(given[++at] ?? '')
  }
  const text = given[at]
  const name = text !== undefined && Object.hasOwn(FLAG_WORDS, text) ? FLAG_WORDS[text] : text
  return [leading, name, given.slice(at + 1)]
}

async function withoutWord(leading: readonly string[], around: Surroundings): Promise<number> {
  const { options } = parseArguments(leading, GLOBAL_OPTIONS, { help: KNOWN_WORDS })
  const context = new Context(options as GlobalOptions, [], around, words)
  const { overviewHelp } = await import('./help-text.ts')
  const asked = context.options.help
  const text = (await overviewHelp(words, context.print.colours)).join('\n')
  if (asked) context.print.line(text)
  else around.stderr.write(`${text}\n`)
  return asked ? 0 : USAGE
}

/** Before anything is parsed: an error is JSON for whoever asked for JSON. */
function jsonAsked(given: readonly string[]): GlobalOptions {
  const { options } = parseArguments([], GLOBAL_OPTIONS, { help: '' })
  return { ...(options as GlobalOptions), json: given.includes('--json'), jsonl: given.includes('--jsonl') }
}
