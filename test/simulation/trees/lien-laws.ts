import { objectOf } from '../../../src/core/json/json.ts'
import { refuseWrite } from '../../../src/core/lien/refuse-write.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { isRefusal } from '../../../src/core/refusal.ts'
import type { Check, CommittedPlan, Ledger } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'

/** The host of all agents of these worlds. */
export const HOST = 'host'
/** Some are inside others, and some only begin with the name of others. */
export const PATHS = ['/w/a', '/w/a/b', '/w/a/b/c', '/w/ab', '/w/d', '/w/d/e', '/w/d/e2'] as const
const FILES = PATHS.map((path) => `${path}/file`)

interface Holding {
  readonly pid: Pid
  readonly parent: Pid | null
  readonly paths: readonly (readonly string[])[]
}

/** Which agents have which paths, from their registrations and ends alone: a lien begins with the one, and goes back with the other. */
export class LienLaws implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #live = new Map<Pid, Holding>()
  readonly #parents = new Map<Pid, Pid | null>()
  /** Agents that were given paths: when they have ended, they write nothing. */
  readonly #bound = new Set<Pid>()
  /** Raised by each registration and end of an agent. */
  version = 0

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage
    this.#ledger = ledger
  }

  plan({ changes, answer }: CommittedPlan): void {
    for (const change of changes) {
      if (change.type !== 'process') continue
      const { was, row, events } = change
      const { pid, outcome } = row.record
      for (const event of events) {
        const registered = payloadOf(event, 'registered')
        if (registered?.kind !== 'agent') continue
        this.version += 1
        this.#parents.set(pid, registered.parent)
        const paths = pathsOf(objectOf(registered.spec['paths'])['paths'])
        if (paths.length > 0) this.#give({ pid, parent: registered.parent, paths })
      }
      if (outcome === null || was?.record.outcome != null) continue
      this.version += 1
      this.#live.delete(pid)
    }
    if (isRefusal(answer) && answer.code === 'path_held') this.#compareRefusal(answer.details ?? {})
  }

  committed(): void {
    if (this.#bound.size > 0) this.#compareRow()
  }

  full(): void {
    this.#compareWrites()
  }

  /** What an agent was told, while nothing changed. */
  told(pid: Pid, file: string, isRefused: boolean): void {
    if (this.#mayWrite(pid, file) === isRefused)
      this.#stage.violated(LAWS.refuseWrite, `${pid} was ${isRefused ? 'refused' : 'let write'} ${file}`)
  }

  /** Whether it was given paths, or one above it was. */
  isBound(pid: Pid): boolean {
    return this.#lineOf(pid).some((one) => this.#bound.has(one))
  }

  #give(holding: Holding): void {
    const { pid, paths } = holding
    const line = this.#lineOf(pid)
    const bound = line.slice(1).find((one) => this.#bound.has(one))
    const lender = bound === undefined ? undefined : this.#live.get(bound)
    for (const path of paths) {
      for (const other of this.#live.values())
        if (!line.includes(other.pid) && other.paths.some((held) => isIn(held, path) || isIn(path, held)))
          this.#stage.violated(
            LAWS.oneWriter,
            `${pid} gets /${path.join('/')}, and ${other.pid} has a part of it`,
          )
      if (bound !== undefined && lender?.paths.some((held) => isIn(path, held)) !== true)
        this.#stage.violated(
          LAWS.oneWriter,
          `${pid} gets /${path.join('/')} from ${bound}, which does not have it`,
        )
    }
    this.#bound.add(pid)
    this.#live.set(pid, holding)
  }

  /** The row of the host has the liens of live agents, and no others. */
  #compareRow(): void {
    const row = this.#ledger.observer.ask({ ask: 'liens', host: HOST })
    const stored = (row?.liens ?? []).map(({ holder, paths }) => `${holder} ${paths}`).sort()
    const expected = [...this.#live.values()].map(({ pid, paths }) => `${pid} ${paths.map(textOf)}`).sort()
    if (stored.join(' ') !== expected.join(' '))
      this.#stage.violated(LAWS.writeBack, `the liens are ${stored}, and should be ${expected}`)
  }

  /** Each live agent may write what the model says, as far as the rules see the file. */
  #compareWrites(): void {
    if (this.#bound.size === 0) return
    const row = this.#ledger.observer.ask({ ask: 'liens', host: HOST })
    for (const pid of this.#parents.keys()) {
      const line = this.#lineOf(pid).flatMap((one): readonly ProcessRecord[] => {
        const entry = this.#ledger.processes.get(one)
        return entry === undefined ? [] : [entry.record]
      })
      const [own] = line
      if (own === undefined || own.outcome !== null || line.length !== this.#lineOf(pid).length) continue
      for (const file of FILES) {
        const refused = refuseWrite(row, line, file)
        if ((refused === undefined) !== this.#mayWrite(pid, file))
          this.#stage.violated(LAWS.refuseWrite, `${pid} and ${file}: ${refused?.message ?? 'it may write'}`)
      }
    }
  }

  /** No live agent beside or below it has the file; and if one of its line was given paths, the nearest has it. */
  #mayWrite(pid: Pid, file: string): boolean {
    const line = this.#lineOf(pid)
    const path = file.slice(1).split('/')
    const has = ({ paths }: Holding) => paths.some((held) => isIn(path, held))
    if ([...this.#live.values()].some((other) => !line.includes(other.pid) && has(other))) return false
    const bound = line.find((one) => this.#bound.has(one))
    if (bound === undefined) return true
    const holding = this.#live.get(bound)
    return holding !== undefined && has(holding)
  }

  /** A refusal names an agent that lives and has the path, or the one whose paths are elsewhere. */
  #compareRefusal({ path, holder }: Readonly<Record<string, unknown>>): void {
    if (typeof holder !== 'string' || typeof path !== 'string') return
    // An agent of the same request, which is refused as a whole.
    if (!this.#parents.has(holder)) return
    const holding = this.#live.get(holder)
    const isHeld = holding?.paths.some((held) => textOf(held) === path) === true
    const isOutside =
      this.#bound.has(holder) && holding?.paths.some((held) => isIn(path.slice(1).split('/'), held)) !== true
    if (!isHeld && !isOutside)
      this.#stage.violated(LAWS.writeBack, `${path} is refused because of ${holder}, which does not have it`)
  }

  #lineOf(pid: Pid): Pid[] {
    const line: Pid[] = []
    for (let at: Pid | null | undefined = pid; at != null; at = this.#parents.get(at)) line.push(at)
    return line
  }
}

function pathsOf(given: unknown): readonly (readonly string[])[] {
  return Array.isArray(given) ? given.map((path) => String(path).slice(1).split('/')) : []
}

function isIn(path: readonly string[], folder: readonly string[]): boolean {
  return folder.every((name, index) => path[index] === name)
}

function textOf(path: readonly string[]): string {
  return `/${path.join('/')}`
}
