import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { InputOf, OutputOf, VerbName } from 'reeve'
import { builtFixture } from '../built-file.ts'

/** The daemon refused a request. */
export class Refused extends Error {
  readonly code: string
  constructor({ code, message }: { code: string; message: string }) {
    super(`${code}: ${message}`)
    this.code = code
  }
}

/** A daemon in its own OS process that is killed repeatedly. A request that one daemon did not answer goes to the next. */
export class Daemons {
  readonly #store: string
  readonly #commands: object
  readonly #openFiles: number | undefined
  readonly #troubles: string[] = []
  #daemon: Promise<Daemon>
  #isOver = false
  #started = 0

  /** `openFiles`: how many descriptors each daemon and each keeper may have open. */
  constructor(store: string, commands: object, { openFiles }: { readonly openFiles?: number } = {}) {
    this.#store = store
    this.#commands = commands
    this.#openFiles = openFiles
    this.#daemon = this.#start()
  }

  get started(): number {
    return this.#started
  }

  /** Background failures of all daemons. */
  get troubles(): readonly string[] {
    return this.#troubles
  }

  /** Only for repeatable requests: a killed daemon may or may not have carried out the last one. */
  async call<Name extends VerbName>(verb: Name, input: InputOf<Name>): Promise<OutputOf<Name>> {
    for (;;) {
      const daemon = await this.#daemon
      const answer = await daemon.ask(verb, input)
      if (answer !== GONE) return answer as OutputOf<Name>
      // No daemon follows the last one: without this the loop would never yield.
      if (this.#isOver) throw new Error('The soak is over')
    }
  }

  ready(): Promise<unknown> {
    return this.#daemon
  }

  /** Kills the daemon with SIGKILL and starts the next. Returns how many spawns were under way. */
  async kill(): Promise<number> {
    const daemon = await this.#daemon
    const spawning = daemon.asking('spawn')
    const gone = daemon.kill()
    this.#daemon = gone.then(() => this.#start())
    // The next call reports a failed start; after the last call no daemon is started on purpose.
    this.#daemon.catch(() => {})
    await gone
    return spawning
  }

  /** Kills the last daemon; no other is started. */
  async end(): Promise<void> {
    this.#isOver = true
    const daemon = await this.#daemon.catch(() => null)
    await daemon?.kill()
  }

  async #start(): Promise<Daemon> {
    if (this.#isOver) throw new Error('The soak is over')
    this.#started += 1
    const program = [process.execPath, builtFixture('daemon')]
    const limited =
      this.#openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${this.#openFiles}; exec "$0" "$@"`]
    const words = [...limited, ...program, this.#store, JSON.stringify(this.#commands)]
    return Daemon.start(words, (trouble) => this.#troubles.push(trouble))
  }
}

const GONE = Symbol('the daemon was killed before it answered')

interface Asked {
  readonly verb: string
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

class Daemon {
  readonly #child: ChildProcess
  readonly #gone: Promise<void>
  readonly #asked = new Map<number, Asked>()
  #isGone = false
  #isKilled = false
  #last = 0

  static async start(
    [program = '', ...args]: readonly string[],
    onTrouble: (trouble: string) => void,
  ): Promise<Daemon> {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    const daemon = new Daemon(child)
    await daemon.#listen(onTrouble)
    return daemon
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#gone = new Promise((resolve) => child.once('close', () => resolve()))
  }

  asking(verb: string): number {
    return [...this.#asked.values()].filter((one) => one.verb === verb).length
  }

  ask(verb: string, input: unknown): Promise<unknown> {
    if (this.#isGone) return Promise.resolve(GONE)
    this.#last += 1
    const id = this.#last
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { verb, resolve, reject })
      this.#child.stdin?.write(`${JSON.stringify({ id, verb, input })}\n`)
    })
  }

  async kill(): Promise<void> {
    this.#isKilled = true
    if (!this.#isGone) this.#child.kill('SIGKILL')
    await this.#gone
  }

  /** Resolves when the daemon is ready. A daemon that ends by itself fails all its requests. */
  #listen(onTrouble: (trouble: string) => void): Promise<void> {
    let complaint = ''
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(-4_000)
    })
    // A request that was written to a killed daemon goes to the next.
    this.#child.stdin?.on('error', () => {})
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })
      lines.on('line', (line) => {
        // The last line of a killed daemon may be cut.
        if (!line.endsWith('}')) return
        const said = JSON.parse(line) as Record<string, unknown>
        if ('ready' in said) resolve()
        else if ('trouble' in said) onTrouble(String(said['trouble']))
        else this.#answered(said)
      })
      void this.#gone.then(() => {
        this.#isGone = true
        const error = new Error(`A daemon ended by itself: ${complaint}`)
        for (const asked of this.#asked.values())
          if (this.#isKilled) asked.resolve(GONE)
          else asked.reject(error)
        this.#asked.clear()
        reject(error)
      })
    })
  }

  #answered(said: Record<string, unknown>): void {
    const asked = this.#asked.get(said['id'] as number)
    this.#asked.delete(said['id'] as number)
    if ('error' in said) asked?.reject(new Refused(said['error'] as { code: string; message: string }))
    else asked?.resolve(said['answer'])
  }
}
