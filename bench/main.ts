/** `npm run bench -- <suite>`: measures, compares with floors and peers in the same run, and says which goals are met. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agents } from './agents/suite.ts'
import { authority } from './authority/suite.ts'
import { doors } from './doors/suite.ts'
import { durable } from './durable/suite.ts'
import type { Figure } from './figure.ts'
import { growth } from './growth/suite.ts'
import { host } from './host/suite.ts'
import { table } from './report.ts'
import type { Suite } from './suite.ts'

const suites: Readonly<Record<string, Suite>> = { durable, host, doors, growth, authority, agents }

const HELP = `npm run bench -- <suite> [--only <text>] [--peers <folder>] [--quick] [--json]

Suites
${Object.entries(suites)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

  --peers <folder>  measure these other systems beside Reeve, in the same run
  --quick           smaller sizes: a smoke test, not a result
  --json            one JSON object per figure on stdout, and nothing else
  --only <text>     only measurements whose name contains this
  --count <n>       growth: with so many processes; agents: with so many idle agents

Examples
  npm run bench -- durable --quick
  npm run bench -- durable --peers ../peers/durable
  npm run --silent bench -- durable --json > figures.jsonl
`

// Exits explicitly, because a failed measurement may have left handles open.
process.exit(await main(process.argv.slice(2)))

async function main(argv: readonly string[]): Promise<number> {
  const asked = readArgs(argv)
  if (typeof asked === 'string') {
    console.error(`${asked}\n\n${HELP}`)
    return 2
  }
  if (asked.help) {
    console.log(HELP)
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  try {
    return await measure(asked, folder)
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error)
    return 1
  }
}

async function measure(
  { name, suite, quick, json, peers, only, count }: Asked,
  folder: string,
): Promise<number> {
  const begun = performance.now()
  const say = (text: string) => console.error(`${seconds(begun).padStart(6)}  ${text}`)
  const failures: string[] = []
  const failed = (what: string, error: unknown) => {
    failures.push(what)
    console.error(`Could not measure ${what}:`, error)
  }
  const figures: Figure[] = []
  for await (const figure of suite.run({ quick, peers, only, count, folder, say, failed })) {
    figures.push(figure)
    if (json) console.log(JSON.stringify({ suite: name, ...figure }))
  }
  const tried = figures.length + failures.length
  if (tried === 0) throw new Error(`No measurement of suite ${name} matches ${only}.`)
  const note = quick ? ', with --quick: no result to quote' : ''
  if (!json) console.log(`\n${table(figures)}\nMeasured in ${seconds(begun)}${note}.`)
  if (failures.length > 0) console.error(`Could not be measured: ${failures.join('; ')}.`)
  return failures.length > 0 ? 1 : 0
}

interface Asked {
  readonly name: string
  readonly suite: Suite
  readonly quick: boolean
  readonly json: boolean
  readonly peers: string | undefined
  readonly only: string | undefined
  readonly count: number | undefined
  readonly help: boolean
}

/** Returns an error message for wrong arguments. */
function readArgs(argv: readonly string[]): Asked | { readonly help: true } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        peers: { type: 'string' },
        only: { type: 'string' },
        count: { type: 'string' },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { help: true }
    const [name, ...more] = positionals
    if (name === undefined) return 'Name a suite.'
    if (more.length > 0) return `Give one suite at a time, not also ${more.join(' ')}.`
    const suite = suites[name]
    if (suite === undefined) return `There is no suite ${name}.`
    const count = values.count === undefined ? undefined : Number(values.count)
    if (count !== undefined && !(Number.isInteger(count) && count > 0)) return '--count is a whole number.'
    return { ...values, name, suite, peers: values.peers, only: values.only, count, help: false }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function seconds(begun: number): string {
  return `${((performance.now() - begun) / 1_000).toFixed(1)} s`
}
