import { type Figure, figure, type Goal, ratioAtLeast, ratioAtMost, valueAtMost } from '../figure.ts'

/** A line of the peers' benchmark. */
export interface PeerResult {
  readonly peer: string
  readonly workload: string
  readonly value: number | null
  readonly unit: string
  readonly note: string
}

/** Which results of Reeve are compared with which peer, and which ratio is the goal. */
const PAIRS: readonly (readonly [workload: string, ours: string, theirs: string, goal?: Goal])[] = [
  ['turnover', 'reeve-sqlite', 'plainjob-full', ratioAtLeast(4.5)],
  ['turnover', 'reeve-sqlite', 'plainjob'],
  ['turnover', 'reeve-sqlite', 'sqlite-group'],
  ['turnover', 'reeve-postgres', 'pg-boss', ratioAtLeast(2)],
  ['turnover', 'reeve-postgres', 'graphile-worker'],
  ['turnover', 'reeve-postgres', 'pg-raw'],
  ['turnover-bulk', 'reeve-sqlite', 'plainjob-full', ratioAtLeast(5)],
  ['turnover-bulk', 'reeve-sqlite', 'sqlite-group'],
  ['turnover-bulk', 'reeve-postgres', 'graphile-worker', ratioAtLeast(1)],
  ['turnover-bulk', 'reeve-postgres', 'pg-boss'],
  ['turnover-bulk', 'reeve-postgres', 'pg-raw'],
  ['latency p50', 'reeve-sqlite', 'sqlite-each', ratioAtMost(2)],
  ['latency p50', 'reeve-postgres', 'pg-raw', ratioAtMost(2)],
  ['latency p99', 'reeve-sqlite', 'sqlite-each'],
  ['latency p99', 'reeve-postgres', 'pg-raw'],
  ['steps k=1000', 'reeve-postgres', 'dbos', ratioAtLeast(4)],
  ['steps k=1000', 'reeve-postgres', 'pg-raw', ratioAtLeast(0.75)],
  ['steps k=1000', 'reeve-sqlite', 'sqlite-each', ratioAtLeast(0.7)],
  ['signal p50', 'reeve-sqlite', 'sqlite-each', ratioAtMost(2)],
  ['signal p50', 'reeve-postgres', 'pg-raw', ratioAtMost(2)],
  ['signal p99', 'reeve-sqlite', 'sqlite-each', valueAtMost(10, 'ms')],
  ['signal p99', 'reeve-postgres', 'pg-raw', valueAtMost(20, 'ms')],
  ['recovery time', 'reeve-sqlite', 'graphile-worker', ratioAtMost(1)],
  ['recovery time', 'reeve-postgres', 'graphile-worker', ratioAtMost(1)],
  ['recovery ran twice', 'reeve-sqlite', 'graphile-worker'],
  ['recovery ran twice', 'reeve-postgres', 'graphile-worker'],
]

/** What to measure: for each workload, Reeve and its peers. */
export function neededPeers(): ReadonlyMap<string, readonly string[]> {
  const needed = new Map<string, Set<string>>()
  for (const [result, ours, theirs] of PAIRS) {
    const [workload = ''] = result.split(' ')
    const peers = needed.get(workload) ?? new Set()
    needed.set(workload, peers.add(theirs).add(ours))
  }
  return new Map([...needed].map(([workload, peers]) => [workload, [...peers]]))
}

export function* compared(results: readonly PeerResult[]): Generator<Figure> {
  const find = (peer: string, workload: string) =>
    results.find((result) => result.peer === peer && result.workload === workload)
  for (const [workload, ours, theirs, goal] of PAIRS) {
    const mine = find(ours, workload)
    if (mine?.value == null) continue
    if (mine.note.startsWith('GAVE UP')) throw new Error(`${ours}, ${workload}: ${mine.note}`)
    const other = find(theirs, workload)?.value
    const ratio = other == null || other === 0 ? undefined : mine.value / other
    yield figure(
      `${workload}: ${ours} vs ${theirs}`,
      mine.value,
      mine.unit,
      ratio === undefined ? undefined : { ratio, against: `${theirs} (${other} ${mine.unit})` },
      workload === 'recovery ran twice' ? onlyExecuting(find(ours, 'recovery time')) : goal,
    )
  }
}

/** Begun but not durably completed when the worker was killed, as the peers' benchmark notes it. */
function onlyExecuting(time: PeerResult | undefined): Goal | undefined {
  const counts = /m=(\d+); at the kill (\d+) had begun, (\d+) unfinished/.exec(time?.note ?? '')
  if (counts === null) return undefined
  const [units, begun, unfinished] = counts.slice(1).map(Number) as [number, number, number]
  return valueAtMost(begun - (units - unfinished), 'executing at the kill')
}
