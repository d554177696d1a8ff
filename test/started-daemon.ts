import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { endForCertain, isAlive, type OsProcess } from './command/os-processes.ts'
import { until } from './keeper/client.ts'

/** A daemon in another OS process, and its output. */
export class StartedDaemon {
  readonly osPid: number
  readonly readyOrEnded: Promise<unknown>
  readonly #child: ChildProcess
  readonly #identity: OsProcess
  stdout = ''
  stderr = ''

  constructor(child: ChildProcess, identity: OsProcess) {
    this.#child = child
    this.#identity = identity
    this.osPid = identity.osPid
    child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data.toString()
    })
    const ready = new Promise<void>((resolve) => {
      child.stdout?.on('data', (data: Buffer) => {
        this.stdout += data.toString()
        if (this.stdout.includes('\n')) resolve()
      })
    })
    this.readyOrEnded = Promise.race([ready, once(child, 'close')])
  }

  get url(): string | null {
    return (JSON.parse(this.stdout.split('\n')[0] ?? '{}') as { ready: string | null }).ready
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async ended(): Promise<{ code: number | null; signal: string | null }> {
    await until('the daemon has ended', () => !isAlive(this.#identity))
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
    return { code: this.#child.exitCode, signal: this.#child.signalCode }
  }

  async kill(): Promise<void> {
    await endForCertain(this.#identity)
  }
}
