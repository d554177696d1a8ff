import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../base/error-text.ts'
import { isObject } from '../base/is-object.ts'
import type { ScriptLimits } from '../core/script/limits.ts'
import { ownProgram } from '../package/own-files.ts'
import { GUEST } from './guest.ts'
import type { CallAnswer, FromVm, Stretch, ToVm, VmData } from './messages.ts'

/** The program of all VMs, and its hash: a state can only be continued with the same one. */
export interface Engine {
  readonly program: Uint8Array<ArrayBuffer>
  readonly hash: string
}

let engine: Promise<Engine> | undefined

/** It is loaded with the first script. */
export function loadEngine(): Promise<Engine> {
  engine ??= readEngine().catch((error: unknown) => {
    engine = undefined
    throw error
  })
  return engine
}

async function readEngine(): Promise<Engine> {
  const bytes = await readFile(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm')))
  return {
    program: new Uint8Array(bytes),
    hash: hash('sha256', Buffer.concat([bytes, Buffer.from(GUEST)]), 'hex'),
  }
}

/** How long a thread may take to begin, and how long it gets to notice that its time is over, before it is ended from outside. */
const START_MS = 60_000
const BACKSTOP_MS = 1_000

/** A thread needs memory of its own besides that of its VM: for the texts that go in and out. */
const THREAD_MB = 256

/** A script that computes in a worker thread of its own. It has no files, network, environment, timers and modules. */
export class ScriptVm {
  readonly #worker: Worker
  readonly #limits: VmData['limits']
  #waiting: PromiseWithResolvers<FromVm> | undefined
  #ended: Error | undefined
  readonly #ready: Promise<unknown>

  constructor({ program }: Engine, limits: Pick<ScriptLimits, 'memoryBytes' | 'computeMs'>) {
    const { memoryBytes, computeMs } = limits
    this.#limits = { memoryBytes, computeMs }
    const workerData: VmData = { program, limits: this.#limits }
    this.#worker = new Worker(ownProgram('script/vm-main'), {
      workerData,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
    })
    this.#worker.unref()
    this.#ready = this.#next(START_MS)
    this.#ready.catch(() => {})
    this.#worker.on('message', (message: FromVm) => this.#settle((waiting) => waiting.resolve(message)))
    this.#worker.on('error', (error) => this.#over(new Error(threadError(error))))
    this.#worker.on('exit', () => this.#over(new Error('Its thread has ended.')))
  }

  /** Runs `export default (args, reeve) => …` until it waits for calls, or has ended. */
  begin(source: string, args: string, time: number): Promise<Stretch> {
    return this.#compute({ type: 'begin', source, args, time })
  }

  /** Continues a stored state. It waits for the calls that it waited for then. */
  async restore(state: Uint8Array, time: number): Promise<void> {
    await this.#compute({ type: 'restore', state, time })
  }

  answer(answer: CallAnswer, time: number): Promise<Stretch> {
    return this.#compute({ type: 'answer', answer, time })
  }

  /** The state of a script that waits; null if it is too large to be stored. */
  async snapshot(): Promise<Uint8Array | null> {
    const answer = await this.#ask({ type: 'snapshot' })
    return answer.type === 'snapshot' ? answer.state : null
  }

  async close(): Promise<void> {
    this.#over(new Error('It was stopped.'))
    await this.#worker.terminate()
  }

  async #compute(message: ToVm): Promise<Stretch> {
    const answer = await this.#ask(message)
    if (answer.type === 'waiting' || answer.type === 'returned' || answer.type === 'failed') return answer
    throw new Error(`A thread answered ${answer.type} to ${message.type}`)
  }

  async #ask(message: ToVm): Promise<FromVm> {
    await this.#ready
    if (this.#ended !== undefined) throw this.#ended
    const next = this.#next(this.#limits.computeMs + BACKSTOP_MS)
    this.#worker.postMessage(message)
    return next
  }

  async #next(timeoutMs: number): Promise<FromVm> {
    const waiting = Promise.withResolvers<FromVm>()
    this.#waiting = waiting
    // Some built-ins do not notice the end of their time.
    const timer = setTimeout(() => {
      this.#over(new Error(`It computed for more than ${this.#limits.computeMs / 1_000} s without a break.`))
      void this.#worker.terminate()
    }, timeoutMs)
    try {
      return await waiting.promise
    } finally {
      clearTimeout(timer)
    }
  }

  #over(error: Error): void {
    this.#ended ??= error
    const ended = this.#ended
    this.#settle((waiting) => waiting.reject(ended))
  }

  #settle(settle: (waiting: PromiseWithResolvers<FromVm>) => void): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) settle(waiting)
  }
}

function threadError(error: unknown): string {
  const isMemory = isObject(error) && error['code'] === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? 'It needed more memory than a script may have.' : messageOf(error)
}
