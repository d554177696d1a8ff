import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { InputOf, OutputOf, VerbName } from '../../src/index.ts'
import type { Built } from './build.ts'

/** Requests of the parent, and answers. */
export interface Asked {
  readonly id: number
  readonly verb: VerbName | 'close'
  readonly input: unknown
}
export type Heard =
  | { readonly ready: Ready }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string }

interface Ready {
  /** How long `embed` took. */
  readonly embedMs: number
  readonly keeperPid: number
  /** How many live commands it found and took over. */
  readonly adopted: number
}

type Waiting = PromiseWithResolvers<unknown>

/** A daemon in its own OS process, with nothing in it but Reeve: `daemon.ts`. */
export class Daemon {
  readonly ready: Ready
  readonly osPid: number
  readonly #child: ChildProcess
  readonly #waiting: Map<number, Waiting>
  #asked = 0

  private constructor(child: ChildProcess, waiting: Map<number, Waiting>, ready: Ready) {
    this.#child = child
    this.#waiting = waiting
    this.ready = ready
    this.osPid = child.pid ?? 0
  }

  static async start({ daemon }: Built, folder: string): Promise<Daemon> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', daemon, folder], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Advanced serialization, because JSON would turn bytes into numbers.
      serialization: 'advanced',
    })
    const waiting = new Map<number, Waiting>()
    const ready = Promise.withResolvers<Ready>()
    child.on('message', (message) => {
      const heard = message as Heard
      if ('ready' in heard) return ready.resolve(heard.ready)
      const asked = waiting.get(heard.id)
      waiting.delete(heard.id)
      if ('error' in heard) asked?.reject(new Error(heard.error))
      else asked?.resolve(heard.answer)
    })
    child.once('exit', (code, signal) => {
      const error = new Error(`The daemon ended with ${code ?? signal}.`)
      ready.reject(error)
      for (const { reject } of waiting.values()) reject(error)
    })
    return new Daemon(child, waiting, await ready.promise)
  }

  ask<Verb extends VerbName>(verb: Verb, input: InputOf<Verb>): Promise<OutputOf<Verb>> {
    return this.#ask(verb, input) as Promise<OutputOf<Verb>>
  }

  /** With SIGKILL, without notice. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  /** In order, with all its commands. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    await this.ask('killAll', { graceMs: 1 })
    await this.#ask('close', {})
    await this.kill()
  }

  #ask(verb: Asked['verb'], input: unknown): Promise<unknown> {
    this.#asked += 1
    const asked: Asked = { id: this.#asked, verb, input }
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(asked.id, waiting)
    this.#child.send(asked)
    return waiting.promise
  }
}
