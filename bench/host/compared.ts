import { type Figure, figure, type Goal, ratioAtLeast, valueAtMost } from '../figure.ts'

/** A line of the peers' benchmark. */
export interface PeerResult {
  readonly peer: string
  readonly workload: string
  /** Text for a share of the commands: `yes`, `no`, `7/20`. */
  readonly value: number | string | null
  readonly unit: string
  readonly note: string
}

export const WORKLOADS = [
  'turnover',
  'start',
  'exit',
  'throughput',
  'watch',
  'pty',
  'treekill',
  'idle',
  'crash',
] as const

/** A goal may depend on the peer's result. */
type Judge = Goal | ((theirs: number) => Goal)

const OURS = 'reeve'
const KEEPER_TOO = 'reeve-keeper-too'
const all: Goal = { of: 'value', atLeast: 1, text: 'all' }
const none = valueAtMost(0, 'left')
const p99 = valueAtMost(25, 'ms')
const within3ms = (theirs: number): Goal => ({ ...valueAtMost(theirs + 3, 'ms'), text: '≤ theirs + 3 ms' })

/** Which results of Reeve are compared with which peer, and the goal of each. */
const PAIRS: readonly (readonly [metric: string, theirs: string, judge?: Judge])[] = [
  ['turnover', 'spawn-fd', ratioAtLeast(0.6)],
  ['turnover', 'spawn-pipe'],
  ['turnover', 'execa'],
  ['turnover', 'pm2', ratioAtLeast(3)],
  ['turnover', 'desktop-commander', ratioAtLeast(3)],
  ['turnover', 'tmux', ratioAtLeast(3)],
  ['start.p50', 'spawn-pipe', within3ms],
  ['start.p99', 'spawn-pipe', p99],
  ['exit.p50', 'spawn-fd', within3ms],
  ['exit.p99', 'spawn-fd', p99],
  ['throughput', 'spawn-pipe', ratioAtLeast(0.8)],
  ['throughput.rss', 'spawn-pipe'],
  ['throughput.cpu', 'spawn-pipe'],
  ['watch', 'spawn-pipe', ratioAtLeast(0.6)],
  ['watch.hit', 'spawn-pipe', all],
  ['pty', 'node-pty', ratioAtLeast(0.8)],
  ['treekill.left', 'pm2', none],
  ['treekill.time', 'pm2', { ...valueAtMost(2_300, 'ms'), text: '≤ grace + 300 ms' }],
  ['idle.cpu', 'pm2', { ...valueAtMost(0.1, '%'), text: '< 10 ms in 10 s' }],
  ['idle.rss', 'pm2', { ...valueAtMost(150e6 / 1_048_576, 'MiB'), text: '≤ 150 MB' }],
  ['idle.all', 'pm2'],
  ['idle.list', 'pm2'],
  ['crash.survive', 'tmux', all],
  ['crash.before', 'tmux', all],
  ['crash.after', 'tmux', all],
  ['crash.exitcode', 'tmux', all],
  ['crash.orphans', 'tmux', none],
]

/** With the keeper killed as well, exit codes cannot be known; everything else is as before. */
const KEEPER_TOO_GOALS: Readonly<Record<string, Goal>> = {
  'crash.survive': all,
  'crash.before': all,
  'crash.after': all,
  'crash.exitcode': { ...valueAtMost(0, ''), text: 'none made up' },
  'crash.orphans': none,
}

export function* compared(results: readonly PeerResult[]): Generator<Figure> {
  const find = (peer: string, metric: string) =>
    results.find((result) => result.peer === peer && result.workload === metric)
  for (const [metric, theirs, judge] of PAIRS) {
    const mine = find(OURS, metric)
    const value = numberOf(mine)
    if (mine === undefined || value === undefined) continue
    const other = numberOf(find(theirs, metric))
    const beside =
      other === undefined || other === 0
        ? undefined
        : { ratio: value / other, against: `${theirs} (${other} ${unitOf(mine)})` }
    const goal = typeof judge !== 'function' ? judge : other === undefined ? undefined : judge(other)
    yield figure(`${metric}: ${OURS} vs ${theirs}`, value, unitOf(mine), beside, goal)
  }
  for (const [metric, goal] of Object.entries(KEEPER_TOO_GOALS)) {
    const mine = find(KEEPER_TOO, metric)
    const value = numberOf(mine)
    if (mine !== undefined && value !== undefined)
      yield figure(`${metric}: ${KEEPER_TOO}`, value, unitOf(mine), undefined, goal)
  }
}

function numberOf(result: PeerResult | undefined): number | undefined {
  const value = result?.value
  if (typeof value !== 'string') return value ?? undefined
  if (value === 'yes' || value === 'no') return value === 'yes' ? 1 : 0
  const [some, of] = value.split('/').map(Number)
  return some === undefined || of === undefined ? undefined : some / of
}

function unitOf({ value, unit }: PeerResult): string {
  return typeof value === 'string' ? 'of the commands' : unit
}
