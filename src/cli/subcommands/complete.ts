import type { Reeve } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { GLOBAL_OPTIONS } from '../global-options.ts'
import type { OptionSpecs } from '../options.ts'
import { commandText, statusText } from '../print/status.ts'
import { onOneLine } from '../print/table.ts'
import { type Subcommand, subcommand } from '../subcommand.ts'

/** Completion neither waits for a slow daemon nor starts one. */
const TIMEOUT_MS = 500

interface Offer {
  readonly text: string
  readonly about: string
}

/** Called by the scripts of `reeve completion` with the arguments so far, the last one unfinished. Prints a line per offer. */
export const complete: Subcommand = subcommand({
  name: '__complete',
  summary: 'What could come next',
  usage: ['__complete -- <argument>…'],
  options: {},
  examples: [],
  async run(context) {
    const given = context.args
    const current = given.at(-1) ?? ''
    const offers = await offersFor(context, given.slice(0, -1), current)
    for (const { text, about } of offers)
      if (text.startsWith(current) || text.startsWith(':'))
        context.print.line(about === '' ? text : `${text}\t${about}`)
    return 0
  },
})

async function offersFor(context: Context, before: readonly string[], current: string): Promise<Offer[]> {
  const [name, ...rest] = before
  if (name === undefined) return subcommandOffers(context)
  const found = await context.subcommands.load(name)
  if (found === undefined) return []
  const more = found.moreOptions === undefined ? {} : await found.moreOptions(context.daemon)
  const specs: OptionSpecs = { ...GLOBAL_OPTIONS, ...more, ...found.options }
  if (found.stopEarly && rest.some((text) => text === '--')) return [command]
  const pending = pendingOption(rest, specs)
  if (pending !== undefined) return valueOffers(context, pending, specs)
  if (current.startsWith('-')) return optionOffers(specs)
  return argumentOffers(context, found, rest)
}

const command: Offer = { text: ':command', about: '' }
const file: Offer = { text: ':file', about: '' }

function subcommandOffers({ subcommands }: Context): Promise<Offer[]> {
  const offer = async (name: string) => ({ text: name, about: (await subcommands.load(name))?.summary ?? '' })
  return Promise.all(subcommands.names.map(offer))
}

function optionOffers(specs: OptionSpecs): Offer[] {
  return Object.entries(specs).map(([name, { about }]) => ({ text: `--${name}`, about }))
}

/** The option whose value is being typed. */
function pendingOption(rest: readonly string[], specs: OptionSpecs): string | undefined {
  const last = rest.at(-1) ?? ''
  const found = Object.entries(specs).find(
    ([name, { short, type }]) =>
      type !== 'flag' && (last === `--${name}` || (short !== undefined && last === `-${short}`)),
  )
  return found?.[0]
}

async function valueOffers(context: Context, option: string, specs: OptionSpecs): Promise<Offer[]> {
  const choices = specs[option]?.choices
  if (choices !== undefined) return choices.map((text) => ({ text, about: '' }))
  if (option === 'session') return sessionOffers(context)
  if (option === 'parent') return processOffers(context, 'live process')
  return option === 'home' || option === 'cwd' ? [file] : []
}

async function argumentOffers(
  context: Context,
  { completes, name }: Subcommand,
  rest: readonly string[],
): Promise<Offer[]> {
  if (completes === 'process' || completes === 'live process') return processOffers(context, completes)
  if (completes === 'command') return [command]
  if (completes === 'subcommand') return subcommandOffers(context)
  if (completes === 'session') return sessionOffers(context)
  if (completes === undefined) return []
  const asked = rest.filter((text) => !text.startsWith('-'))
  if (asked.length > 0) return name === 'session' && asked[0] !== 'open' ? sessionOffers(context) : []
  return completes.map((text) => ({ text, about: '' }))
}

/** Live ones first, names before pids. */
async function processOffers(context: Context, which: 'process' | 'live process'): Promise<Offer[]> {
  return asked(context, async (reeve, signal) => {
    const filter = which === 'process' ? ({ status: 'any' } as const) : {}
    const { processes } = await reeve.list({ filter, limit: 1_000 }, { signal })
    const records = processes.map(({ record }) => record).reverse()
    const sorted = [
      ...records.filter(({ outcome }) => outcome === null),
      ...records.filter(({ outcome }) => outcome !== null),
    ]
    const about = (record: (typeof records)[number]) =>
      `${onOneLine(statusText(record))}  ${onOneLine(commandText(record)).slice(0, 60)}`
    const names = new Map(
      sorted.toReversed().flatMap((record) => (record.name === null ? [] : [[record.name, about(record)]])),
    )
    return [
      ...[...names].map(([text, said]) => ({ text, about: said })),
      ...sorted.slice(0, 100).map((record) => ({ text: record.pid, about: about(record) })),
    ]
  })
}

function sessionOffers(context: Context): Promise<Offer[]> {
  return asked(context, async (reeve, signal) => {
    const { sessions } = await reeve.sessions({ limit: 1_000 }, { signal })
    return sessions
      .filter(({ endedAt }) => endedAt === null)
      .map(({ id, label }) => ({ text: id, about: onOneLine(label ?? '') }))
  })
}

type Ask = (reeve: Reeve, signal: AbortSignal) => Promise<Offer[]>

async function asked(context: Context, ask: Ask): Promise<Offer[]> {
  const reeve = context.quietly()
  try {
    return await ask(reeve, AbortSignal.timeout(TIMEOUT_MS))
  } catch {
    return []
  } finally {
    await reeve.close()
  }
}
