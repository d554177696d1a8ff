import { traceOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import { unknownSubcommand } from './aliases.ts'
import { Context, type Surroundings } from './context.ts'
import { exitCodeFor, FAILED, USAGE } from './exit-code.ts'
import { GLOBAL_OPTIONS, type GlobalOptions } from './global-options.ts'
import { type Called, inOptions } from './in-options.ts'
import type { OptionSpecs, Options } from './options.ts'
import { parseArguments } from './parse.ts'
import { Printer } from './print/printer.ts'
import type { Subcommand } from './subcommand.ts'
import { subcommands } from './subcommand-table.ts'
import { refuseUntaken } from './untaken-options.ts'
import { UsageError } from './usage-error.ts'

const LIST_HINT = 'Run reeve --help to list the subcommands.'
const FLAG_SUBCOMMANDS: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' }

/** The `reeve` program: a subcommand, its options and arguments. Resolves with the exit code. */
export async function cli(given: readonly string[], around: Surroundings): Promise<number> {
  try {
    const { leading, name, rest } = splitAtSubcommand(given)
    if (name === undefined) return await runWithoutSubcommand(leading, around)
    const found = subcommands.load(name)
    if (found === undefined) throw unknownSubcommand(name, subcommands.names)
    return await perform(await found, [...leading, ...rest], around)
  } catch (error) {
    return reportFailure(error, new Printer(around, optionsForErrors(given)), FAILED)
  }
}

async function perform(
  subcommand: Subcommand,
  given: readonly string[],
  around: Surroundings,
): Promise<number> {
  let context: Context<Options<OptionSpecs>> | undefined
  let called: Called | undefined
  try {
    const more = subcommand.moreOptions === undefined ? {} : await subcommand.moreOptions(around.daemon)
    const specs = { ...GLOBAL_OPTIONS, ...more, ...subcommand.options }
    const { options, args, texts } = parseArguments(given, specs, {
      stopEarly: subcommand.stopEarly ?? false,
      help: `Run reeve ${subcommand.name} --help for its options.`,
    })
    called = { fields: subcommand.fields ?? {}, specs, texts }
    context = new Context(options as GlobalOptions & Options<OptionSpecs>, args, around, subcommands)
    if (!context.options.help) {
      refuseUntaken(subcommand, context)
      return await subcommand.run(context)
    }
    const { subcommandHelp } = await import('./help-text.ts')
    const { colours, width } = context.print
    const lines = subcommandHelp(subcommand, { ...subcommand.options, ...more }, colours, width)
    for (const line of lines) context.print.line(line)
    return 0
  } catch (error) {
    const print = context?.print ?? new Printer(around, optionsForErrors(given))
    const said = error instanceof ReeveError && called !== undefined ? inOptions(error, called) : error
    return reportFailure(said, print, subcommand.failure ?? FAILED)
  } finally {
    await context?.close()
  }
}

/** `failure` is the subcommand's own code for errors of Reeve; without one, the error decides. */
function reportFailure(error: unknown, print: Printer, failure: number): number {
  if (error instanceof UsageError) {
    print.failure({ code: 'usage', message: error.message, remedy: error.remedy })
    return failure === FAILED ? USAGE : failure
  }
  if (error instanceof ReeveError) {
    print.failure(error)
    return failure === FAILED ? exitCodeFor(error.code) : failure
  }
  const message = traceOf(error)
  print.failure({ code: 'internal', message, remedy: 'This is a bug in Reeve: please report it.' })
  return failure
}

interface Split {
  readonly leading: readonly string[]
  readonly name: string | undefined
  readonly rest: readonly string[]
}

/** Global options may precede the subcommand: `reeve --home there ps`. */
function splitAtSubcommand(given: readonly string[]): Split {
  const leading: string[] = []
  let at = 0
  for (; at < given.length; at++) {
    const text = given[at] ?? ''
    if (!text.startsWith('-') || Object.hasOwn(FLAG_SUBCOMMANDS, text)) break
    leading.push(text)
    const spec = GLOBAL_OPTIONS[text.slice(2) as keyof typeof GLOBAL_OPTIONS]
    if (spec !== undefined && spec.type !== 'flag' && at + 1 < given.length) leading.push(given[++at] ?? '')
  }
  const text = given[at]
  const name = text !== undefined && Object.hasOwn(FLAG_SUBCOMMANDS, text) ? FLAG_SUBCOMMANDS[text] : text
  return { leading, name, rest: given.slice(at + 1) }
}

async function runWithoutSubcommand(leading: readonly string[], around: Surroundings): Promise<number> {
  const { options } = parseArguments(leading, GLOBAL_OPTIONS, { help: LIST_HINT })
  const context = new Context(options as GlobalOptions, [], around, subcommands)
  const { overviewHelp } = await import('./help-text.ts')
  const isAskedFor = context.options.help
  const text = (await overviewHelp(subcommands, context.print.colours)).join('\n')
  if (isAskedFor) context.print.line(text)
  else around.stderr.write(`${text}\n`)
  return isAskedFor ? 0 : USAGE
}

/** An error that precedes parsing, or is about it, still obeys `--json`. */
function optionsForErrors(given: readonly string[]): GlobalOptions {
  const { options } = parseArguments([], GLOBAL_OPTIONS, { help: '' })
  return { ...(options as GlobalOptions), json: given.includes('--json'), jsonl: given.includes('--jsonl') }
}
