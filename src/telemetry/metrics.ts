import { attributes, nanos, type Value } from './otlp.ts'

/** The counts of a daemon since its start. */
export interface Counted {
  readonly processes: ReadonlyMap<string, number>
  readonly spawns: ReadonlyMap<string, number>
  readonly ends: ReadonlyMap<string, number>
  readonly outputBytes: number
  readonly requests: readonly { readonly verb: string; readonly status: number; readonly count: number }[]
  readonly connections: number
  readonly memoryBytes: number
}

interface Times {
  readonly startedAt: number
  readonly now: number
}

/** The counts as OTLP metrics: totals since the start of the daemon, and current values. */
export function metricsOf(counted: Counted, times: Times): object[] {
  const { processes, spawns, ends, requests } = counted
  const by = (key: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([value, count]) => ({ labels: { [key]: value }, value: count }))
  const one = (value: number) => [{ labels: {}, value }]
  const answers = requests.map(({ verb, status, count }) => ({
    labels: { 'reeve.verb': verb, 'http.response.status_code': status },
    value: count,
  }))
  return [
    gauge(
      'reeve.processes',
      '{process}',
      'Processes that have not ended.',
      by('reeve.status', processes),
      times,
    ),
    total('reeve.process.spawns', '{process}', 'Processes registered.', by('reeve.kind', spawns), times),
    total('reeve.process.ends', '{process}', 'Processes ended.', by('reeve.status', ends), times),
    total('reeve.output', 'By', 'Output of commands.', one(counted.outputBytes), times),
    total('reeve.api.requests', '{request}', 'Requests answered over HTTP.', answers, times),
    gauge('reeve.connections', '{connection}', 'Open connections.', one(counted.connections), times),
    gauge('process.memory.usage', 'By', 'Memory of the daemon.', one(counted.memoryBytes), times),
    gauge('process.uptime', 's', 'Time since the daemon became ready.', one(uptime(times)), times),
  ]
}

interface Point {
  readonly labels: Readonly<Record<string, Value>>
  readonly value: number
}

const CUMULATIVE = 2

function total(name: string, unit: string, description: string, points: readonly Point[], times: Times) {
  const dataPoints = points.map((point) => dataPoint(point, times))
  return {
    name,
    unit,
    description,
    sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints },
  }
}

function gauge(name: string, unit: string, description: string, points: readonly Point[], times: Times) {
  return { name, unit, description, gauge: { dataPoints: points.map((point) => dataPoint(point, times)) } }
}

function dataPoint({ labels, value }: Point, { startedAt, now }: Times) {
  return {
    attributes: attributes(labels),
    startTimeUnixNano: nanos(startedAt),
    timeUnixNano: nanos(now),
    asInt: String(Math.round(value)),
  }
}

function uptime({ startedAt, now }: Times): number {
  return (now - startedAt) / 1_000
}
