import { didYouMean } from '../../base/nearest-name.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-code.ts'
import { momentOf } from '../moment.ts'
import { clockTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['list', 'verify', 'prune']
const DECISIONS = [
  ...['allowed', 'asked', 'denied', 'approved', 'refused', 'expired', 'withdrawn'],
  ...['granted', 'revoked', 'revealed', 'repeated'],
]
const FILTERS = ['actor', 'target', 'decision', 'since', 'tail'] as const
const LIMITS = ['older-than', 'keep'] as const
const SHOWN = 50
const PAGE = 1_000

interface AuditOptions {
  readonly actor: string | undefined
  readonly target: string | undefined
  readonly decision: string | undefined
  readonly since: string | undefined
  readonly tail: number | undefined
  readonly 'older-than': number | undefined
  readonly keep: number | undefined
}

export const audit = subcommand({
  name: 'audit',
  summary:
    'Shows who was shown secrets, was given access or was denied something; verify checks that nothing was changed',
  usage: ['audit [list] [options]', 'audit verify', 'audit prune --older-than <time> | --keep <count>'],
  completes: ACTIONS,
  options: {
    actor: { type: 'text', value: 'actor', about: 'only entries of this actor, for example session:s1' },
    target: {
      type: 'text',
      value: 'target',
      about: 'only entries about this target, for example process:p_7k3m9q2x4t8v',
    },
    decision: {
      type: 'text',
      value: 'decision',
      choices: DECISIONS,
      about: 'only entries with this decision',
    },
    since: { type: 'text', value: 'time', about: 'only entries since then: 5m, 12:30, 2026-03-01' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'count',
      about: `how many of the newest entries; by default ${SHOWN}`,
    },
    'older-than': { type: 'duration', about: 'prune: entries older than this, for example 90d' },
    keep: { type: 'number', value: 'count', about: 'prune: all but this many of the latest' },
  },
  about: `
The newest entries come first. Every entry has a hash that covers the entry before it, and the daemon notes hashes in its home. verify
recomputes all of them: it exits with 0 if nothing was changed, removed or cut off, and with 1 otherwise. prune removes the oldest
entries and leaves a signed start, after which verify goes on; the daemon does the same by its settings keepAuditMs and keepAudit.`,
  examples: [
    ['reeve audit', 'the newest entries'],
    ['reeve audit --decision revealed --since today', 'who was shown secrets today'],
    ['reeve audit --actor session:s1 --json', 'everything about one session'],
    ['reeve audit verify', 'check that nothing was changed'],
    ['reeve audit prune --older-than 90d', 'remove entries older than 90 days'],
  ],
  async run(context) {
    const { args } = context
    const [action = 'list', ...rest] = args
    if (!ACTIONS.includes(action))
      throw new UsageError(
        `reeve audit does not know ${action}.${didYouMean(action, ACTIONS)}`,
        'It knows list, verify and prune.',
      )
    if (rest.length > 0)
      throw new UsageError(`reeve audit ${action} was given ${rest.join(' ')}.`, 'It takes no arguments.')
    if (action === 'prune') return prune(context)
    return action === 'verify' ? verify(context) : list(context)
  },
})

type Entry = OutputOf<'audit'>['entries'][number]

async function list(context: Context<AuditOptions>): Promise<number> {
  const { options, print } = context
  const { actor, target, decision, since, tail = SHOWN } = options
  refuseOptions(options, LIMITS, 'list')
  const filter: InputOf<'audit'> = {
    ...(actor === undefined ? {} : { actor }),
    ...(target === undefined ? {} : { target }),
    ...(decision === undefined ? {} : { decision: decision as NonNullable<InputOf<'audit'>['decision']> }),
    ...(since === undefined ? {} : { since: Math.max(0, momentOf(since, '--since', Date.now())) }),
  }
  const { entries, hasMore } = await newest(await context.acting(), filter, tail)
  if (print.isJson) print.jsonList(entries)
  else printTable(context, entries)
  if (hasMore && !print.isJson) print.aside('there are earlier entries: -n shows more.')
  return 0
}

/** A page may be empty and still have a next one: one call looks at a bounded number of entries. */
async function newest(
  reeve: ReeveVerbs,
  filter: InputOf<'audit'>,
  count: number,
): Promise<{ readonly entries: readonly Entry[]; readonly hasMore: boolean }> {
  const entries: Entry[] = []
  let after: number | null = null
  do {
    const limit = Math.min(PAGE, count + 1 - entries.length)
    const page: OutputOf<'audit'> = await reeve.audit({
      ...filter,
      limit,
      ...(after === null ? {} : { after }),
    })
    entries.push(...page.entries)
    after = page.next
  } while (after !== null && entries.length <= count)
  return { entries: entries.slice(0, count), hasMore: entries.length > count }
}

function printTable({ print }: Context<unknown>, entries: readonly Entry[]): void {
  if (entries.length === 0) {
    print.line('The audit has no such entries.')
    return
  }
  const { dim, blue, red, yellow } = print.colours
  const paints: Readonly<Record<string, (text: string) => string>> = {
    denied: red,
    repeated: red,
    refused: red,
    revealed: yellow,
  }
  print.table(
    [
      ...['POSITION', 'TIME'].map((title) => ({ title })),
      { title: 'ACTOR', shrinks: true },
      ...['DECISION', 'ACTION'].map((title) => ({ title })),
      { title: 'TARGET', shrinks: true },
      { title: 'WHY', flexible: true },
    ],
    entries.map((entry) => {
      const place = [
        { text: String(entry.position), paint: dim },
        { text: clockTime(entry.at), paint: dim },
      ]
      if (entry.type === 'unreadable')
        return [
          ...place,
          ...['', 'unreadable', '', '', 'the entry was changed'].map((text) => ({ text, paint: red })),
        ]
      const { actor, decision, action, target } = entry
      const paint = paints[decision]
      return [
        ...place,
        { text: actor, paint: blue },
        { text: decision, ...(paint === undefined ? {} : { paint }) },
        { text: action },
        { text: target },
        { text: whyOf(entry) },
      ]
    }),
  )
}

function whyOf({ rule, reason, inputs }: Extract<Entry, { type: 'entry' }>): string {
  const given = Object.entries(inputs).map(([name, value]) => `${name} ${said(value)}`)
  // The text of a rule has its justification already.
  const isSaid = reason !== null && rule?.text.includes(JSON.stringify(reason)) === true
  return [rule?.text, isSaid ? null : reason, given.join(', ')]
    .filter((part) => part !== undefined && part !== null && part !== '')
    .join('; ')
}

/** Of each input, enough to recognise it; `--json` has all of it. */
const SHOWN_CHARS = 60

function said(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS - 1)}…`
}

const REASONS: Readonly<Record<Extract<OutputOf<'verifyAudit'>, { type: 'broken' }>['reason'], string>> = {
  changed: 'its text, time or hash is not the one that was written',
  missing: 'it was removed',
  rewritten: 'the entries from there on were replaced: they differ from an anchor in the home',
  cut: 'the chain ends before it, and an anchor names a later entry',
  unsigned: 'the entries before the first were removed, and the key of this home did not sign that',
}

async function verify(context: Context<AuditOptions>): Promise<number> {
  const { options, print } = context
  refuseOptions(options, [...FILTERS, ...LIMITS], 'verify')
  const verified = await (await context.acting()).verifyAudit({})
  if (print.isJson) print.json(verified)
  else if (verified.type === 'sound')
    print.line(
      `The audit is sound: ${counted(verified.position - verified.start, 'entry', 'entries')}${startText(verified)}, ${anchorsText(verified)}.`,
    )
  else
    print.failure({
      message: `The audit is broken from entry ${verified.from} on (${verified.reason}): ${REASONS[verified.reason]}.`,
      remedy: 'Trust the entries before it only, and compare the store with a backup.',
    })
  return verified.type === 'sound' ? 0 : FAILED
}

function startText({ start }: { readonly start: number }): string {
  return start === 0 ? '' : ` after the ${start} that retention removed`
}

async function prune(context: Context<AuditOptions>): Promise<number> {
  const { options, print } = context
  const { 'older-than': olderThanMs, keep } = options
  refuseOptions(options, FILTERS, 'prune')
  if (olderThanMs === undefined && keep === undefined)
    throw new UsageError(
      'reeve audit prune needs --older-than or --keep.',
      'For example: reeve audit prune --older-than 90d',
    )
  const report = await (await context.acting()).pruneAudit({
    ...(olderThanMs === undefined ? {} : { olderThanMs }),
    ...(keep === undefined ? {} : { keep }),
  })
  if (print.isJson) print.json(report)
  else print.line(`Removed ${counted(report.removed, 'entry', 'entries')} of the audit.`)
  return 0
}

function refuseOptions(
  options: AuditOptions,
  names: readonly (keyof AuditOptions)[],
  action: 'list' | 'verify' | 'prune',
): void {
  const given = names.find((name) => options[name] !== undefined)
  if (given === undefined) return
  throw new UsageError(`reeve audit ${action} was given --${given}.`, REMEDIES[action])
}

const REMEDIES = {
  list: 'Only reeve audit prune takes it.',
  verify: 'It always checks all entries: leave the option out.',
  prune: 'It removes entries by age and number only: leave the option out.',
} as const

function anchorsText({ anchors }: { readonly anchors: number }): string {
  return anchors === 0 ? 'and no anchors to compare' : `and ${counted(anchors, 'anchor')} in the home`
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
