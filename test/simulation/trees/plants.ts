import type { EarlierLog } from '../../../src/core/agent/earlier-logs.ts'
import { type Lien, type Liens, withoutLien } from '../../../src/core/lien/lien.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import type { Change, Plan } from '../../../src/store/contract.ts'
import { LAWS as SESSION_LAWS } from '../agents/laws.ts'
import { changing, refolded, type Steps } from '../false-facts.ts'
import type { Ledger, ProcessChange } from '../ledger.ts'
import { asJson, payloadOf } from '../payload.ts'
import type { Plant, Planting } from '../plant.ts'
import { LAWS } from './laws.ts'
import { HOST, PATHS } from './lien-laws.ts'

/** Plausible bugs of agents below agents: a lease taken for a lien, a comparison of equal paths, a report beside its commit. */
const PLANTS: readonly Omit<Plant, 'kind'>[] = [
  {
    name: 'a lien given back on silence',
    laws: [LAWS.writeBack],
    plan: (plan, planting) =>
      changing(plan, (changes) => {
        const lost = changes.find((change) => change.type === 'process' && change.events.some(isLost))
        return lost?.type === 'process' ? [...changes, ...givenBack(lost.row, planting)] : changes
      }),
  },
  {
    name: 'a lien that is kept after a kill',
    laws: [LAWS.writeBack],
    since: 7,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.some(
          (change) => change.type === 'process' && change.row.record.outcome?.status === 'cancelled',
        )
          ? changes.filter(({ type }) => type !== 'liens')
          : changes,
      ),
  },
  {
    name: 'a lien that is not compared with nested paths',
    laws: [LAWS.oneWriter],
    since: 9,
    plan: (plan) => seeingNoFolders(plan),
  },
  {
    name: 'a fork that reads what the other agent does later',
    laws: [SESSION_LAWS.branch],
    often: ['fork an agent'],
    plan: (plan, { ledger }) =>
      changing(plan, (changes) => changes.map((change) => seeingAll(change, ledger))),
  },
  {
    name: 'a fork that forgets the end of the session',
    laws: [SESSION_LAWS.branch],
    often: ['fork an agent'],
    plan: (plan) => changing(plan, (changes) => changes.map(forgettingEnd)),
  },
  {
    name: 'a report lost with the end of a turn',
    laws: [LAWS.reported],
    plan: (plan) => changing(plan, (changes) => changes.filter((change) => !isReport(change))),
  },
  {
    name: 'a report told again after a crash',
    laws: [LAWS.reported],
    plan: (plan) => changing(plan, (changes) => changes.map(withReportAgain)),
  },
  {
    name: 'a group that forgets a report in a crash',
    laws: [LAWS.groups, LAWS.reported],
    plan: (plan) => changing(plan, (changes) => changes.filter((change) => !isSeatFilled(change))),
  },
]

export const treePlants: readonly Plant[] = PLANTS.map((plant) => ({ ...plant, kind: 'trees' }))

function isLost({ type }: { readonly type: string }): boolean {
  return type === 'holder_lost'
}

function givenBack({ record }: ProcessRow, { ledger }: Planting): readonly Change[] {
  const was = ledger.observer.ask({ ask: 'liens', host: HOST })
  const liens = was === null ? null : withoutLien(was, record.pid)
  return liens === null ? [] : [{ type: 'liens', was, liens }]
}

/** A lien on a folder is not among the liens that a plan compares. It stays in the row. */
function seeingNoFolders<Answer>(plan: Plan<Answer>): Plan<Answer> {
  let hidden: readonly Lien[] = []
  const isOnFolder = ({ paths }: Lien) =>
    paths.some((path) => PATHS.some((other) => other.startsWith(`${path}/`)))
  const blind = function* (): Steps<Answer> {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) return step.value
      const answers = yield step.value
      known = step.value.map(({ ask }, index) => {
        const row = answers[index] as Liens | null
        if (ask !== 'liens' || row === null) return answers[index]
        hidden = row.liens.filter(isOnFolder)
        return { ...row, liens: row.liens.filter((lien) => !isOnFolder(lien)) }
      })
    }
  }
  return changing(blind, (changes) =>
    changes.map((change) =>
      change.type === 'liens'
        ? { ...change, liens: { ...change.liens, liens: [...hidden, ...change.liens.liens] } }
        : change,
    ),
  )
}

/** The branch point is where the other agent is at the time of the commit. */
function seeingAll(change: Change, ledger: Ledger): Change {
  return withLastLog(change, ({ pid, through }) => ledger.entry(pid)?.events.length ?? through)
}

function forgettingEnd(change: Change): Change {
  return withLastLog(change, ({ through }) => Math.ceil(through / 2))
}

function withLastLog(change: Change, throughOf: (log: EarlierLog) => number): Change {
  if (change.type !== 'process' || change.was !== null) return change
  const begun = change.events.find((event) => payloadOf(event, 'session_continued') !== undefined)
  const continued = begun === undefined ? undefined : payloadOf(begun, 'session_continued')
  const last = continued?.earlier.at(-1)
  if (begun === undefined || continued === undefined || last === undefined) return change
  const through = throughOf(last)
  const payload = { ...continued, earlier: [...continued.earlier.slice(0, -1), { ...last, through }] }
  const events = change.events.map((event) =>
    event === begun ? { ...event, payload: asJson(payload) } : event,
  )
  const earlier = payload.earlier
  const { record } = change.row
  const agent = record.agent === null ? null : { ...record.agent, earlier }
  return { ...change, events, row: { ...change.row, record: { ...record, agent } } }
}

/** The event of the report is written twice. */
function withReportAgain(change: Change): Change {
  if (change.type !== 'process' || change.was === null) return change
  const report = change.events.find((event) => reportIn(event) !== undefined)
  const last = change.events.at(-1)
  if (report === undefined || last === undefined) return change
  const again = { ...report, seq: last.seq + 1, replayKey: null }
  return refolded({ ...change, events: [...change.events, again] }, change.was)
}

function isReport(change: Change): boolean {
  return (
    change.type === 'process' &&
    change.was !== null &&
    change.events.some((event) => reportIn(event) !== undefined)
  )
}

function isSeatFilled(change: Change): boolean {
  return change.type === 'process' && change.events.some((event) => reportIn(event)?.seatOf !== undefined)
}

function reportIn(event: ProcessChange['events'][number]) {
  const notice = payloadOf(event, 'notice_buffered')
  return notice?.notice.startsWith('report:') === true ? notice : undefined
}
