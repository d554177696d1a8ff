import type { Approval } from '../../../src/core/approval/approval.ts'
import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { Change } from '../../../src/store/contract.ts'
import { type Check, type CommittedPlan, type Ledger, type ProcessChange, same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import type { ActLog } from './act-log.ts'
import { boundActor, ceilingAsSet, lineageOf } from './bound-actor.ts'
import { argvOf } from './machine.ts'
import { checkReviews, isReviewOf } from './reviews.ts'
import type { RuleModel } from './rule-model.ts'

type ApprovalChange = Extract<Change, { type: 'approval' }>

interface GatedProcess {
  approval: string
  /** Of the action that may begin once there is a yes. */
  actionHash: string
  yes: boolean
  /** How often it was started since the last yes. */
  starts: number
}

/** All approvals and the processes that wait for them, from the commits. It checks each step as it is committed. */
export class ApprovalLog implements Check {
  readonly approvals = new Map<string, Approval>()
  readonly gates = new Map<Pid, GatedProcess>()
  /** How often the program of a command began: the effect that a person was asked about. */
  readonly effects = new Map<Pid, number>()
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #rules: RuleModel
  readonly #acts: ActLog

  constructor(stage: Stage, ledger: Ledger, rules: RuleModel, acts: ActLog) {
    this.#stage = stage
    this.#ledger = ledger
    this.#rules = rules
    this.#acts = acts
  }

  plan({ changes }: CommittedPlan): void {
    checkReviews(this.#stage, this.approvals, changes)
    for (const change of changes) if (change.type === 'approval') this.#changed(change, changes)
    for (const change of changes) if (change.type === 'process') this.#moved(change)
  }

  other(change: Exclude<Change, { type: 'process' }>): void {
    if (change.type !== 'prune') return
    for (const { pid } of change.tombstones) {
      this.gates.delete(pid)
      for (const [id, approval] of [...this.approvals]) if (approval.pid === pid) this.approvals.delete(id)
    }
  }

  /** The program of a command begins with this action, right now. */
  begins(pid: Pid, host: string, resolved: ResolvedAction, argv: readonly string[] | undefined): void {
    const times = (this.effects.get(pid) ?? 0) + 1
    this.effects.set(pid, times)
    const gate = this.gates.get(pid)
    if (gate === undefined) return
    if (times > 1) this.#broke('an approved action begins once', `${pid} began ${times} times`)
    const approval = this.approvals.get(gate.approval)
    if (approval?.request.type !== 'permission' || approval.answer?.type !== 'approved') {
      this.#broke('nothing begins without a yes', `${pid} began, and ${gate.approval} is ${approval?.state}`)
      return
    }
    const begun = begunAs(resolved, argv, host)
    const approved = this.#approvedActions(approval)
    if (!approved.some((one) => same(one, begun)))
      this.#broke(
        'only the approved action begins',
        `${pid} began with ${JSON.stringify(begun)}, approved was ${JSON.stringify(approved[0])}`,
      )
  }

  /** The action as it was shown; of an edit, as the host of the action found it when a person edited it. */
  #approvedActions({ pid, request, answer }: Approval): readonly BegunAction[] {
    if (request.type !== 'permission' || answer?.type !== 'approved') return []
    const { act, cwd, environmentHash, host } = request.action
    if (answer.spec !== null) {
      const argv = argvOf({ spec: answer.spec, effectiveSpec: null })
      return this.#acts.resolutionsOf(pid, answer.spec).map((resolved) => begunAs(resolved, argv, host))
    }
    return act.type === 'command'
      ? [{ argv: act.argv, programs: act.programs, cwd, environmentHash, host }]
      : []
  }

  /** At rest: nothing waits for an approval that can no longer be given. */
  atRest(now: number): void {
    for (const { id, pid, state, expiresAt, reviewUntil } of this.approvals.values()) {
      if (state !== 'pending') continue
      if (expiresAt !== null && expiresAt < now - LATE_MS)
        this.#broke(
          'an expired approval ends its process',
          `${id} is pending, and expired ${now - expiresAt} ms ago`,
        )
      if (this.#ledger.entry(pid)?.record.outcome !== null)
        this.#broke('an approval ends with its process', `${id} is pending, and ${pid} has ended`)
      if (reviewUntil !== undefined && reviewUntil < now - LATE_MS)
        this.#broke(
          'a person decides what no reviewer does',
          `${id} is in review, and was to be reviewed ${now - reviewUntil} ms ago`,
        )
    }
    for (const [pid, { starts }] of this.gates) {
      const record = this.#ledger.entry(pid)?.record
      // A client may have reported its end before it began.
      if (record?.kind !== 'command' || record.outcome?.status !== 'completed' || starts === 0) continue
      if (this.effects.get(pid) !== 1)
        this.#broke(
          'an approved action begins once',
          `${pid} has completed, and began ${this.effects.get(pid)} times`,
        )
    }
  }

  #changed({ was, approval }: ApprovalChange, changes: readonly Change[]): void {
    const { id, pid } = approval
    const known = this.approvals.get(id)
    this.approvals.set(id, approval)
    if (!same(known ?? null, was))
      this.#broke('decided on facts that hold', `the approval ${id} was another one`)
    if (known === undefined) {
      if (approval.state !== 'pending')
        this.#broke('an approval is settled once', `${id} began as ${approval.state}`)
      return
    }
    if (known.state !== 'pending') {
      if (known.state !== approval.state || !same(known.answer, approval.answer))
        this.#broke('an approval is settled once', `${id} was ${known.state}, and became ${approval.state}`)
      return
    }
    if (approval.state === 'pending') return
    const moved = changes.flatMap((change) =>
      change.type === 'process' && change.row.record.pid === pid ? [change] : [],
    )
    const isYes = approval.state === 'answered' && approval.answer?.type === 'approved'
    // An event that the process declared may be its end, too.
    const isMoved = moved.some(({ row, events }) =>
      isYes ? events.some(({ type }) => type === 'approval_settled') : row.record.outcome !== null,
    )
    if (!isMoved)
      this.#broke(
        'an answer moves its process',
        `${id} became ${approval.state}, and ${pid} stayed as it was`,
      )
    if (approval.state === 'answered') this.#answered(approval, changes)
    else this.#ended(approval, changes)
  }

  /** It has no answer: the audit says so, and an expiry is an act of a kernel. */
  #ended({ id, state }: Approval, changes: readonly Change[]): void {
    const entry = changes.flatMap((change) =>
      change.type === 'audit' && change.entry.inputs['approval'] === id ? [change.entry] : [],
    )[0]
    if (entry?.decision !== state)
      this.#broke('an act and its audit entry are one commit', `${id} became ${state} without an entry`)
    if (state === 'expired' && entry?.actor.startsWith('kernel:') === false)
      this.#broke('an expiry is an act of a kernel', `${id} was ended by ${entry.actor}`)
  }

  #answered(approval: Approval, changes: readonly Change[]): void {
    const { id, expiresAt, answer } = approval
    if (answer === null) {
      this.#broke('an answer is recorded', `${id} is answered without an answer`)
      return
    }
    const { by, at } = answer
    if (expiresAt !== null && expiresAt <= at && answer.type !== 'denied')
      this.#broke(
        'an expired approval starts nothing',
        `${id} expired at ${expiresAt}, and ${by} answered at ${at}`,
      )
    const isReview = isReviewOf(id, by, changes)
    // That a rule covers it is compared with the model of the rules.
    const isByRule = answer.type === 'approved' && answer.rule !== null && by.startsWith('kernel:')
    if (!isReview && !isByRule && !this.mayAnswer(approval, by, at))
      this.#broke('only those who may answer do', `${by} answered ${id} of ${approval.request.subject}`)
    const isLasting = answer.type === 'approved' && (answer.grant !== 'once' || answer.spec !== null)
    if (isLasting && by !== 'host' && !by.startsWith('human:'))
      this.#broke('only a person changes more than one request', `${by} answered ${id} with more than once`)
    const action = isReview ? 'review' : 'answer'
    const isKnown = (change: Change) =>
      change.type === 'audit' && change.entry.action === action && change.entry.inputs['approval'] === id
    if (!changes.some((change) => isKnown(change) && change.type === 'audit' && change.entry.actor === by))
      this.#broke('an act and its audit entry are one commit', `${id} was answered by ${by} without an entry`)
  }

  /** People and the host may answer; another session or process with the right to approve; never a relative of the asker. */
  mayAnswer({ pid, request }: Approval, by: string, at: number): boolean {
    if (by === 'host' || by.startsWith('human:')) return true
    const bound = boundActor(this.#ledger, by)
    if (bound === null || by === request.subject) return false
    const asking = this.#ledger.entry(pid)?.record.sessionsAbove ?? []
    const [session] = bound.sessions
    if (request.session !== null && bound.sessions.includes(request.session)) return false
    if (session !== undefined && asking.includes(session)) return false
    const own = by.startsWith('process:') ? by.slice('process:'.length) : ''
    const above = lineageOf(this.#ledger, pid).map((record) => record.pid)
    const asker = request.subject.slice('process:'.length)
    if ([pid, ...above].includes(own) || bound.above.includes(pid) || bound.above.includes(asker))
      return false
    const kind = request.session === null ? 'process' : 'session'
    const need = { right: 'approve', kind, name: request.session ?? pid, args: [] }
    const ceilings = (this.#ledger.entry(own)?.record.ceilings ?? []).map(ceilingAsSet)
    // A ceiling gives no right, and takes away what it does not allow.
    return (
      this.#rules.rule(bound.sets, [], need, at).type === 'allow' &&
      ['allow', 'open'].includes(this.#rules.rule([], ceilings, need, at).type)
    )
  }

  #moved({ row, events }: ProcessChange): void {
    const { pid, gate: told, recovery } = row.record
    for (const event of events) {
      const requested = payloadOf(event, 'approval_requested')
      const settled = payloadOf(event, 'approval_settled')
      const gate = this.gates.get(pid)
      if (requested !== undefined) {
        const { approval, actionHash } = requested
        this.gates.set(pid, { approval, actionHash, yes: false, starts: 0 })
        const { request } = this.approvals.get(requested.approval) ?? {}
        if (request?.type === 'permission' && request.actionHash !== requested.actionHash)
          this.#broke(
            'only the approved action begins',
            `${pid} waits with another hash than ${requested.approval}`,
          )
      }
      if (settled?.how === 'approved' && gate !== undefined) {
        const answer = this.approvals.get(settled.approval)?.answer
        gate.yes = gate.approval === settled.approval && answer?.type === 'approved'
        gate.starts = 0
        if (settled.actionHash !== undefined) gate.actionHash = settled.actionHash
        const edit = answer?.type === 'approved' ? answer.spec : null
        if (!same(settled.spec ?? null, edit))
          this.#broke('only the approved action begins', `${pid} got another spec than ${settled.approval}`)
      }
      if (event.type === 'started' && gate !== undefined) this.#started(pid, gate, recovery, told?.actionHash)
    }
  }

  #started(pid: Pid, gate: GatedProcess, recovery: string, actionHash: string | undefined): void {
    gate.starts += 1
    const approval = this.approvals.get(gate.approval)
    if (!gate.yes)
      this.#broke(
        'nothing begins without a yes',
        `${pid} started, and ${gate.approval} is ${approval?.state}`,
      )
    if (recovery === 'bound' && gate.starts > 1)
      this.#broke(
        'an approved action begins once',
        `${pid} was started ${gate.starts} times for ${gate.approval}`,
      )
    if (approval?.request.type === 'permission' && gate.actionHash !== actionHash)
      this.#broke('only the approved action begins', `${pid} started with another hash than ${gate.approval}`)
  }

  #broke(law: string, what: string): void {
    this.#stage.violated(law, what)
  }
}

/** What begins, as far as a person approved it. */
type BegunAction = Pick<ResolvedAction, 'programs' | 'cwd'> & {
  readonly argv: readonly string[] | undefined
  readonly environmentHash: string | null
  readonly host: string | null
}

function begunAs(
  { programs, cwd, environmentHash }: ResolvedAction,
  argv: readonly string[] | undefined,
  host: string | null,
): BegunAction {
  return { argv, programs, cwd, environmentHash, host }
}

/** How late an approval may expire: the clocks of kernels differ. */
const LATE_MS = 60_000
