import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Reeve, ReeveError } from 'reeve'
import { builtFixture } from '../built-file.ts'
import type { KillAt } from './kill-at.ts'

/**
 * The daemons of one home, each in its own OS process as `reeve up` starts it, one after another. Clients of the socket go on with
 * the next one.
 */
export class KilledDaemons {
  readonly #home: string
  readonly #env: Readonly<Record<string, string>>
  #child: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()
  #ready = Promise.withResolvers<void>()
  #isReady = false
  #client: Reeve | null = null
  #isOver = false

  constructor(home: string, env: Readonly<Record<string, string>>) {
    this.#home = home
    this.#env = env
  }

  /** Starts the next daemon, which dies at the given write. Resolves when it is ready or has ended. */
  async start(killAt: KillAt | null): Promise<void> {
    if (this.#isOver) throw new Error('The soak is over')
    if (killAt !== null) writeFileSync(join(this.#home, 'kill-at'), JSON.stringify(killAt))
    const child = spawn(process.execPath, [builtFixture('killed-at-write'), 'up', '--listen', 'off'], {
      env: { ...process.env, ...this.#env, REEVE_HOME: this.#home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    let complaint = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(-4_000)
    })
    const ended = once(child, 'close').then(([code, signal]) => {
      this.#child = null
      // Calls that wait for a daemon that died before it was ready go to the next one.
      if (this.#isReady) this.#ready = Promise.withResolvers()
      this.#isReady = false
      if (signal !== 'SIGKILL' && !(this.#isOver && code === 0))
        throw new Error(`A daemon ended by itself with ${code ?? signal}: ${complaint}`)
    })
    this.#ended = ended
    // Reported by the next call that awaits it.
    ended.catch(() => {})
    await Promise.race([once(child.stdout, 'data'), ended])
    if (this.#child !== child) return
    this.#isReady = true
    this.#ready.resolve()
  }

  /** Resolves when the daemon is gone, by whatever kill. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** `kill -9`, unless it is gone already. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Repeats a call that a killed daemon did not answer with the next one: only for calls that may be repeated. */
  async call<Answer>(act: (reeve: Reeve) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      await this.#ready.promise
      try {
        this.#client ??= await connect({ home: this.#home })
        return await act(this.#client)
      } catch (error) {
        const isGone = error instanceof ReeveError && error.code === 'daemon_unreachable'
        if (this.#isOver || !isGone) throw error
      }
    }
  }

  /** Stops the last daemon in the ordinary way. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#client?.close()
    this.#child?.kill('SIGTERM')
    await this.#ended
  }

  /** Ends everything, after a failure. */
  async abandon(): Promise<void> {
    this.#isOver = true
    await this.#client?.close()
    this.#child?.kill('SIGKILL')
    await this.#ended.catch(() => {})
  }
}
