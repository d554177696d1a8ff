import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbedOptions } from '../embed/options.ts'
import type { InputOf, Reeve } from '../verbs/reeve.ts'

type CommandSpec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']

export const COMMANDS = ['count', 'build', 'shell'] as const
export const BUILD_CODE = 7
export const SHELL_CODE = 3
export const PROMPT = '$ '
/** Typed before the kill, and known to the same shell after it. */
export const TYPED_BEFORE = 'answer=41'
export const TYPED_AFTER = 'echo $((answer + 1))'
export const ANSWER = '42'

const TERMINAL = { cols: 60, rows: 8 }
/** An interactive shell ignores SIGTERM, and the default grace of two seconds is too long for a demo. */
const GRACE_MS = 200
/** If the demo itself is killed, its commands end after this time. */
const TIMEOUT_MS = 60_000

/** The folder of the worker's commands, and the files that they write outside of Reeve. */
export class DemoCommands {
  readonly options: NonNullable<EmbedOptions['commands']>
  readonly #folder: string
  readonly #ledger: string

  constructor(folder: string, ledger: string) {
    this.#folder = folder
    this.#ledger = ledger
    this.options = { home: join(folder, 'commands'), environment: 'inherit', graceMs: GRACE_MS }
    appendFileSync(this.#witness, '')
  }

  /** Whether commands have run here. */
  get isUsed(): boolean {
    return existsSync(this.options.home)
  }

  /** The numbers that `count` wrote to a file of its own, beside printing them. */
  counted(): string[] {
    return readFileSync(this.#witness, 'utf8').split('\n').slice(0, -1)
  }

  letBuildEnd(): void {
    writeFileSync(this.#go, '')
  }

  specOf(command: (typeof COMMANDS)[number]): CommandSpec {
    const env = { LEDGER: this.#ledger, WITNESS: this.#witness, GO: this.#go, PS1: PROMPT, ENV: '' }
    const spec = { argv: ['/bin/sh', '-c', `${BEGUN}\n${SCRIPTS[command]}`], env, timeoutMs: TIMEOUT_MS }
    return command === 'shell' ? { ...spec, pty: TERMINAL } : spec
  }

  get #witness(): string {
    return join(this.#folder, 'counted')
  }

  get #go(): string {
    return join(this.#folder, 'go')
  }
}

/** Each command writes to the ledger itself: a record of Reeve's would prove nothing. */
const BEGUN = 'pid=$' + '{REEVE_PROCESS%@*}; echo "begun $pid" >> "$LEDGER"'

const SCRIPTS = {
  count: `
    over=; number=0
    trap over=yes USR1
    while [ -z "$over" ]; do
      for _ in 1 2 3 4 5 6 7 8 9 10; do
        number=$((number + 1)); echo "line $number"; echo "$number" >> "$WITNESS"
      done
      sleep 0.01
    done
    echo "done $pid" >> "$LEDGER"`,
  build: `
    while [ ! -e "$GO" ]; do sleep 0.02; done
    echo "error: out of paper"
    exit ${BUILD_CODE}`,
  shell: 'exec /bin/sh -i',
}

/** The whole output of a command, from its log. */
export async function printedBy(reeve: Reeve, pid: string): Promise<string> {
  const pieces: Uint8Array[] = []
  for (let offset = 0; ; ) {
    const { bytes, next, end } = await reeve.output({ pid, offset })
    pieces.push(bytes)
    if (next >= end) return Buffer.concat(pieces).toString()
    offset = next
  }
}

/** The screen of a command's terminal, without the empty lines at its end. */
export async function shownBy(reeve: Reeve, pid: string): Promise<string[]> {
  const { lines } = await reeve.screen({ pid })
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
