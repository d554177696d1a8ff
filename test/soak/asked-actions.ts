import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { InputOf, OutputOf } from 'reeve'

type Approval = OutputOf<'approvals'>['approvals'][number]

/**
 * What becomes of a request. `edit`: approved with another argument; `session`, `always`: approved for more than one time, and
 * repeated; `dispute`: one person approves and another denies; `stop`: the agent withdraws it.
 */
export const WISHES = [
  ...(['approve', 'approve', 'edit', 'session', 'always'] as const),
  ...(['deny', 'dispute', 'stop', 'expire'] as const),
]
export type Wish = (typeof WISHES)[number]

type SettledState = 'approved' | 'denied' | 'expired' | 'withdrawn' | 'pending' | 'never asked'

/** A command that needs an approval, and appends one line to a file of its own. */
export interface AskedAction {
  readonly key: string
  readonly wish: Wish
  readonly request: InputOf<'spawn'>
  /** Its effects. */
  readonly file: string
  /** The effects of the action that a person makes of it. */
  readonly editedFile: string
  pid: string
  /** The same action again, which the first answer covers. */
  readonly repeats: string[]
  /** It had an effect before the answer that settled its approval was sent. */
  begunBeforeAnswer: boolean
}

/** All actions of a run. Their effects are counted in files, outside of Reeve. */
export class AskedActions {
  /** Waits for an answer as long as it takes. */
  readonly program: string
  /** The same program under another name, whose requests expire. */
  readonly expiringProgram: string
  /** The same program under another name, which may be used a few times. */
  readonly countedProgram: string
  readonly #effects: string
  readonly #actions = new Map<string, AskedAction>()
  #made = 0

  constructor(folder: string) {
    this.program = join(folder, 'append')
    this.expiringProgram = join(folder, 'append-soon')
    this.countedProgram = join(folder, 'append-counted')
    this.#effects = join(folder, 'effects')
    mkdirSync(this.#effects)
    for (const program of [this.program, this.expiringProgram, this.countedProgram]) {
      writeFileSync(program, '#!/bin/sh\necho ran >> "$1"\n')
      chmodSync(program, 0o755)
    }
  }

  get all(): readonly AskedAction[] {
    return [...this.#actions.values()]
  }

  add(
    session: string,
    wish: Wish,
    program = wish === 'expire' ? this.expiringProgram : this.program,
  ): AskedAction {
    const key = `${this.#made++}-${wish}`
    const file = join(this.#effects, key)
    const request: InputOf<'spawn'> = {
      kind: 'command',
      spec: { argv: [program, file] },
      idempotencyKey: key,
      cwd: this.#effects,
      owner: { session },
    }
    const editedFile = `${file}${EDITED}`
    const action: AskedAction = {
      key,
      wish,
      request,
      file,
      editedFile,
      pid: '',
      repeats: [],
      begunBeforeAnswer: false,
    }
    this.#actions.set(key, action)
    return action
  }

  /** The action of an approval. */
  of({ request }: Approval): AskedAction | undefined {
    if (request.type !== 'permission' || request.action.act.type !== 'command') return undefined
    return this.#actions.get(basename(request.action.act.argv?.[1] ?? '', EDITED))
  }

  /** A request that was refused at once. */
  remove({ key }: AskedAction): void {
    this.#actions.delete(key)
  }

  linesOf({ file, editedFile }: AskedAction): number {
    return linesIn(file) + linesIn(editedFile)
  }

  /** The last approval of an action counts: one whose program has changed is asked about again. */
  stateOf({ pid }: AskedAction, approvals: readonly Approval[]): SettledState {
    const last = approvals.findLast((approval) => approval.pid === pid)
    if (last === undefined) return 'never asked'
    if (last.state !== 'answered') return last.state
    return last.answer?.type === 'approved' ? 'approved' : 'denied'
  }

  /** Compares the approvals with the effects. */
  compare(approvals: readonly Approval[]) {
    const doubled: string[] = []
    const lost: string[] = []
    const begunWithoutYes: string[] = []
    const problems: string[] = []
    const counts = { approved: 0, denied: 0, expired: 0, withdrawn: 0, edited: 0, repeated: 0 }
    for (const action of this.#actions.values()) {
      const lines = this.linesOf(action)
      const state = this.stateOf(action, approvals)
      const what = `${action.key} (${action.pid}) was ${state}, and ran ${lines} times`
      const most = 1 + action.repeats.length
      if (lines > most) doubled.push(what)
      if (state === 'approved' && lines < most) lost.push(what)
      if (action.wish === 'edit' && linesIn(action.file) > 0) begunWithoutYes.push(`${what}, as it was asked`)
      for (const pid of action.repeats)
        if (approvals.some((approval) => approval.pid === pid))
          problems.push(
            `${action.key} was asked about again (${pid}), and was approved for the ${action.wish}`,
          )
      if (action.begunBeforeAnswer || (state !== 'approved' && lines > 0)) begunWithoutYes.push(what)
      if (state === 'pending' || state === 'never asked') lost.push(what)
      else counts[state] += 1
      if (action.wish === 'edit') counts.edited += linesIn(action.editedFile)
      counts.repeated += action.repeats.length
      if (!isExpected(action, state)) problems.push(`${action.key} (${action.pid}) was ${state}`)
    }
    return { ...counts, doubled, lost, begunWithoutYes, problems }
  }
}

const EXPECTED: { readonly [Of in Wish]: readonly SettledState[] } = {
  approve: ['approved'],
  edit: ['approved'],
  session: ['approved'],
  always: ['approved'],
  deny: ['denied'],
  dispute: ['approved', 'denied'],
  stop: ['withdrawn'],
  expire: ['expired'],
}

/** Behind the name of the file that an edited action writes to. */
const EDITED = '.edited'

function linesIn(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1
  } catch {
    // It has had no effect.
    return 0
  }
}

function isExpected({ wish }: AskedAction, state: SettledState): boolean {
  return EXPECTED[wish].includes(state)
}
