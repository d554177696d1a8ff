import type { Served } from './served.ts'

interface Answers {
  readonly verb: string
  readonly status: number
  readonly count: number
}

export interface ServerCounts {
  readonly requests: readonly Answers[]
  readonly connections: number
}

/** Counters of the server and figures of Reeve, in the format of Prometheus. */
export class Metrics {
  readonly #answers = new Map<string, Answers>()
  #connections: () => number = () => 0
  readonly #startedAt = Date.now()

  answered(verb: string, status: number): void {
    const labels = `verb="${verb}",status="${status}"`
    const { count } = this.#answers.get(labels) ?? { count: 0 }
    this.#answers.set(labels, { verb, status, count: count + 1 })
  }

  /** For exporters other than Prometheus. */
  get counted(): ServerCounts {
    return { requests: [...this.#answers.values()], connections: this.#connections() }
  }

  countConnections(count: () => number): void {
    this.#connections = count
  }

  async text(reeve: Served): Promise<string> {
    const { live, keeper } = await reeve.status()
    const { rss, heapUsed } = process.memoryUsage()
    return [
      metric('reeve_processes_live', 'gauge', 'Processes that have not ended.', live),
      metric('reeve_change_position', 'counter', 'The position of the change feed.', reeve.position()),
      metric('reeve_keeper_up', 'gauge', 'Whether the keeper answers.', keeper?.available === true ? 1 : 0),
      metric('reeve_connections', 'gauge', 'Open connections.', this.#connections()),
      metric(
        'reeve_uptime_seconds',
        'gauge',
        'Since the daemon is ready.',
        (Date.now() - this.#startedAt) / 1_000,
      ),
      metric('process_resident_memory_bytes', 'gauge', 'Memory of the daemon.', rss),
      metric('nodejs_heap_used_bytes', 'gauge', 'Heap of the daemon in use.', heapUsed),
      '# HELP reeve_http_answers_total Answers by verb and status.\n# TYPE reeve_http_answers_total counter\n',
      ...[...this.#answers].map(([labels, { count }]) => `reeve_http_answers_total{${labels}} ${count}\n`),
    ].join('')
  }
}

function metric(name: string, type: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`
}
