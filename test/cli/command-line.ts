import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type IPty, spawn as spawnPty } from '@lydell/node-pty'
import { inject, onTestFinished } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'

const LAUNCHER = join(inject('builtReeve'), 'bin/reeve.mjs')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output as it is. */
  readonly bytes: Buffer
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when standard output has this in it. */
  printed(text: string): Promise<void>
}

interface StartOptions {
  /** `null_device`: its standard input is /dev/null. */
  readonly input?: string | Buffer | 'open' | 'null_device'
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** `reeve` in a home of its own, as a person or a script calls it. Daemons start by themselves, and end with the test. */
export class CommandLine {
  readonly temp: TempReeve

  constructor(temp = new TempReeve()) {
    this.temp = temp
  }

  get env(): Record<string, string> {
    const { REEVE_PROCESS: _, FORCE_COLOR: __, ...here } = process.env as Record<string, string>
    return { ...here, ...this.temp.env, REEVE_LISTEN: 'off', NO_COLOR: '1' }
  }

  start(words: readonly string[], { input = '', env = {}, cwd = process.cwd() }: StartOptions = {}): Started {
    const args = [LAUNCHER, ...words]
    const options = { cwd, env: { ...this.env, ...env } }
    const child =
      input === 'null_device'
        ? spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
        : spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const out: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (piece: Buffer) => out.push(piece))
    child.stderr.on('data', (piece: Buffer) => {
      stderr += piece.toString()
    })
    // It may close its input before it has read all of ours.
    child.stdin?.on('error', () => undefined)
    if (input !== 'open' && input !== 'null_device') child.stdin?.end(input)
    const ended = once(child, 'close').then(([code, signal]): Ended => {
      const bytes = Buffer.concat(out)
      return { code, signal, bytes, stdout: bytes.toString(), stderr }
    })
    const printed = async (text: string) => {
      while (!Buffer.concat(out).toString().includes(text))
        await Promise.race([
          once(child.stdout, 'data'),
          ended.then(() => Promise.reject(new Error(`No ${text}: ${stderr}`))),
        ])
    }
    return { child, ended, printed }
  }

  run(words: readonly string[], options: StartOptions = {}): Promise<Ended> {
    return this.start(words, options).ended
  }

  /** Runs a subcommand with `--json` and parses its output. */
  async json<Answer>(...words: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await this.run([...words, '--json'])
    if (stdout === '')
      throw new Error(`reeve ${words.join(' ')} ended with ${code} and printed no JSON: ${stderr}`)
    return JSON.parse(stdout) as Answer
  }

  /** At a terminal of its own. */
  terminal(
    words: readonly string[],
    size = { cols: 80, rows: 24 },
    flags: readonly string[] = [],
    cwd = process.cwd(),
  ): AtTerminal {
    const pty = spawnPty(process.execPath, [...flags, LAUNCHER, ...words], {
      ...size,
      cwd,
      env: { ...this.env, TERM: 'xterm' },
    })
    return new AtTerminal(pty)
  }

  /** How a shell calls it. */
  get called(): string {
    return `${process.execPath} ${LAUNCHER}`
  }

  /** An interactive shell, which gives every line a job of its own. */
  shell(): AtTerminal {
    const env = { ...this.env, TERM: 'xterm', PS1: '$ ' }
    return new AtTerminal(spawnPty('bash', ['--norc', '-i'], { cols: 200, rows: 24, env }))
  }
}

export class AtTerminal {
  readonly #pty: IPty
  readonly ended: Promise<number>
  shown = ''
  #heard = Promise.withResolvers<void>()

  constructor(pty: IPty) {
    this.#pty = pty
    pty.onData((text) => {
      this.shown += text
      this.#heard.resolve()
      this.#heard = Promise.withResolvers<void>()
    })
    this.ended = new Promise((resolve) => {
      pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode))
    })
    onTestFinished(() => {
      try {
        pty.kill('SIGKILL')
      } catch {
        // It has ended.
      }
    })
  }

  get osPid(): number {
    return this.#pty.pid
  }

  type(text: string): void {
    this.#pty.write(text)
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows)
  }

  async until(wanted: string | RegExp): Promise<void> {
    const isThere = () => (typeof wanted === 'string' ? this.shown.includes(wanted) : wanted.test(this.shown))
    while (!isThere()) await this.heard()
  }

  /** Until something more is shown. */
  heard(): Promise<void> {
    return this.#heard.promise
  }
}
