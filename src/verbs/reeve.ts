import type * as z from 'zod'
import type { Actor } from '../core/process/record.ts'
import { abandon } from './abandon.ts'
import { acknowledge } from './acknowledge.ts'
import { addRule } from './add-rule.ts'
import { addSchedule } from './add-schedule.ts'
import { addTrigger } from './add-trigger.ts'
import { agentCost } from './agent-cost.ts'
import { agentFile } from './agent-file.ts'
import { agentFiles } from './agent-files.ts'
import { agentInputs } from './agent-inputs.ts'
import { agentLog } from './agent-log.ts'
import { agents } from './agents.ts'
import { allowAgent } from './allow-agent.ts'
import { announceWorker } from './announce-worker.ts'
import { answer } from './answer.ts'
import { answerApprovals } from './answer-approvals.ts'
import { append } from './append.ts'
import { approval } from './approval.ts'
import { approvals } from './approvals.ts'
import { approve } from './approve.ts'
import { ask } from './ask.ts'
import { audit } from './audit.ts'
import { backfillSchedule } from './backfill-schedule.ts'
import { budget } from './budget.ts'
import type { VerbCalls } from './calls.ts'
import { cancelTurn } from './cancel-turn.ts'
import { changeCwd } from './change-cwd.ts'
import { changeOwner } from './change-owner.ts'
import { changes } from './changes.ts'
import { charge } from './charge.ts'
import { checkPolicy } from './check-policy.ts'
import { claimWork } from './claim-work.ts'
import { clearRules } from './clear-rules.ts'
import { closeInput } from './close-input.ts'
import { compactAgent } from './compact-agent.ts'
import { completeInput } from './complete-input.ts'
import { configureAgent } from './configure-agent.ts'
import type { ToolDefinition } from './define-tool.ts'
import { delegateRule } from './delegate-rule.ts'
import { deleteSession } from './delete-session.ts'
import { deliveries } from './deliveries.ts'
import { deny } from './deny.ts'
import { diffObject } from './diff-object.ts'
import { doWork } from './do-work.ts'
import { editInput } from './edit-input.ts'
import { editSchedule } from './edit-schedule.ts'
import { editTrigger } from './edit-trigger.ts'
import { end } from './end.ts'
import { endSession } from './end-session.ts'
import { endTurn } from './end-turn.ts'
import { environment } from './environment.ts'
import { events } from './events.ts'
import { explainRules } from './explain-rules.ts'
import { exportAgent } from './export-agent.ts'
import type { FollowCalls } from './follow-calls.ts'
import { forgetPolicy } from './forget-policy.ts'
import { forkAgent } from './fork-agent.ts'
import { grant } from './grant.ts'
import { grants } from './grants.ts'
import { holders } from './holders.ts'
import { image } from './image.ts'
import { images } from './images.ts'
import { inspectAgent } from './inspect-agent.ts'
import { interrupt } from './interrupt.ts'
import { kill } from './kill.ts'
import { killAll } from './kill-all.ts'
import { linkObject } from './link-object.ts'
import { list } from './list.ts'
import { liveCount } from './live-count.ts'
import { log } from './log.ts'
import { mergeObjects } from './merge-objects.ts'
import { mergeWorktree } from './merge-worktree.ts'
import { notices } from './notices.ts'
import { notifyAgent } from './notify-agent.ts'
import { object } from './object.ts'
import { objectHistory } from './object-history.ts'
import { objects } from './objects.ts'
import { openSession } from './open-session.ts'
import { openTurn } from './open-turn.ts'
import { output } from './output.ts'
import { outputStreams } from './output-streams.ts'
import { pauseAgent } from './pause-agent.ts'
import { pauseSchedule } from './pause-schedule.ts'
import { pauseTrigger } from './pause-trigger.ts'
import { policies } from './policies.ts'
import { policyFile } from './policy-file.ts'
import { poll } from './poll.ts'
import { prune } from './prune.ts'
import { pruneAudit } from './prune-audit.ts'
import { putEnvironment } from './put-environment.ts'
import { putObject } from './put-object.ts'
import { recover } from './recover.ts'
import { refreshEnvironment } from './refresh-environment.ts'
import { registerImage } from './register-image.ts'
import { releaseObject } from './release-object.ts'
import { removeHolder } from './remove-holder.ts'
import { removeImage } from './remove-image.ts'
import { removeInput } from './remove-input.ts'
import { removeRule } from './remove-rule.ts'
import { removeSchedule } from './remove-schedule.ts'
import { removeTrigger } from './remove-trigger.ts'
import { removeWorktree } from './remove-worktree.ts'
import { reorderInputs } from './reorder-inputs.ts'
import { reply } from './reply.ts'
import { resize } from './resize.ts'
import { restart } from './restart.ts'
import { restoreAgent } from './restore-agent.ts'
import { resumeAgent } from './resume-agent.ts'
import { resumeSchedule } from './resume-schedule.ts'
import { resumeTrigger } from './resume-trigger.ts'
import { retireWorker } from './retire-worker.ts'
import { revoke } from './revoke.ts'
import { revokeDelegated } from './revoke-delegated.ts'
import { revokeObject } from './revoke-object.ts'
import { revokeTool } from './revoke-tool.ts'
import { rewindAgent } from './rewind-agent.ts'
import { rewindPoints } from './rewind-points.ts'
import { runAgent } from './run-agent.ts'
import { runSchedule } from './run-schedule.ts'
import { runTrigger } from './run-trigger.ts'
import { schedule } from './schedule.ts'
import { schedules } from './schedules.ts'
import { screen } from './screen.ts'
import { search } from './search.ts'
import { send } from './send.ts'
import { sendMessage } from './send-message.ts'
import { sessions } from './sessions.ts'
import { setExternalRef } from './set-external-ref.ts'
import { setPreset } from './set-preset.ts'
import { show } from './show.ts'
import { shutDownAgent } from './shut-down-agent.ts'
import { signal } from './signal.ts'
import { spawn } from './spawn.ts'
import { spawnAgent } from './spawn-agent.ts'
import { spawnAgents } from './spawn-agents.ts'
import { spawnMany } from './spawn-many.ts'
import { status } from './status.ts'
import { submit } from './submit.ts'
import { takeNotices } from './take-notices.ts'
import { tools } from './tools.ts'
import { touchSession } from './touch-session.ts'
import { track } from './track.ts'
import { transferGrants } from './transfer-grants.ts'
import { trigger } from './trigger.ts'
import { triggers } from './triggers.ts'
import { trustFile } from './trust-file.ts'
import { trustPolicy } from './trust-policy.ts'
import { usage } from './usage.ts'
import { verifyAudit } from './verify-audit.ts'
import { wait } from './wait.ts'
import { waitAgent } from './wait-agent.ts'
import { waitAll } from './wait-all.ts'
import { waitAny } from './wait-any.ts'
import { waitFor } from './wait-for.ts'
import { whoami } from './whoami.ts'
import type { WorkflowFunction, WorkflowOptions } from './workflow-function.ts'
import { workflows } from './workflows.ts'
import { worktrees } from './worktrees.ts'
import { write } from './write.ts'
import { writtenTools } from './written-tools.ts'

/** All verbs. A new one is a file and a line here. */
export const verbs = {
  abandon,
  acknowledge,
  agentLog,
  liveCount,
  announceWorker,
  answer,
  append,
  audit,
  budget,
  changeCwd,
  changes,
  charge,
  claimWork,
  closeInput,
  deleteSession,
  doWork,
  end,
  endSession,
  endTurn,
  workflows,
  tools,
  environment,
  events,
  exportAgent,
  grant,
  grants,
  holders,
  approvals,
  approval,
  approve,
  deny,
  answerApprovals,
  ask,
  reply,
  policies,
  addRule,
  removeRule,
  setPreset,
  clearRules,
  delegateRule,
  revokeDelegated,
  policyFile,
  trustPolicy,
  forgetPolicy,
  checkPolicy,
  explainRules,
  interrupt,
  kill,
  killAll,
  list,
  log,
  notices,
  openSession,
  openTurn,
  addSchedule,
  backfillSchedule,
  editSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  runSchedule,
  schedule,
  schedules,
  addTrigger,
  deliveries,
  editTrigger,
  pauseTrigger,
  removeTrigger,
  resumeTrigger,
  runTrigger,
  trigger,
  triggers,
  putObject,
  object,
  objects,
  objectHistory,
  diffObject,
  linkObject,
  revokeObject,
  releaseObject,
  mergeObjects,
  output,
  poll,
  prune,
  putEnvironment,
  recover,
  setExternalRef,
  refreshEnvironment,
  removeHolder,
  changeOwner,
  resize,
  restart,
  retireWorker,
  revoke,
  screen,
  search,
  send,
  sendMessage,
  sessions,
  show,
  signal,
  spawn,
  spawnAgent,
  worktrees,
  mergeWorktree,
  removeWorktree,
  spawnAgents,
  restoreAgent,
  forkAgent,
  spawnMany,
  status,
  whoami,
  outputStreams,
  submit,
  takeNotices,
  touchSession,
  track,
  transferGrants,
  usage,
  pruneAudit,
  verifyAudit,
  wait,
  waitAll,
  waitAny,
  waitFor,
  write,
  agents,
  inspectAgent,
  runAgent,
  resumeAgent,
  cancelTurn,
  pauseAgent,
  notifyAgent,
  compactAgent,
  rewindAgent,
  rewindPoints,
  shutDownAgent,
  configureAgent,
  allowAgent,
  agentInputs,
  completeInput,
  editInput,
  removeInput,
  reorderInputs,
  agentCost,
  waitAgent,
  images,
  image,
  registerImage,
  removeImage,
  writtenTools,
  revokeTool,
  agentFiles,
  agentFile,
  trustFile,
} as const

export type VerbName = keyof typeof verbs
export type InputOf<Name extends VerbName> = z.input<(typeof verbs)[Name]['input']>
export type ParsedInputOf<Name extends VerbName> = z.output<(typeof verbs)[Name]['input']>
export type OutputOf<Name extends VerbName> = z.output<(typeof verbs)[Name]['output']>

export interface CallOptions {
  /** Aborts the call. A wait then answers `interrupted`, and the process lives on. */
  readonly signal?: AbortSignal
  /** The W3C trace context of the call (`traceparent`), for its entries in the audit. */
  readonly trace?: string
}

/** Everything that can be done on behalf of one actor. */
export interface ReeveVerbs extends VerbCalls, FollowCalls {
  /** The id of the kernel: the `holder` of the processes that it executes. */
  readonly kernel: string
}

/** Serves workflows of this program. */
export interface ServesWorkflows {
  /** Runs the processes of this name in this program, from now until `close`. */
  workflow(name: string, run: WorkflowFunction, options?: WorkflowOptions): Promise<void>
}

/** Serves tools of this program. */
export interface ServesTools {
  /** Runs the calls of this tool in this program, from now until `close`. */
  tool(tool: ToolDefinition): Promise<void>
}

/** Reeve as a program uses it, whether the kernel runs inside the program or in a daemon. */
export interface Reeve extends ReeveVerbs {
  /** Acts as another actor, for example `reeve.as('session:s1')`. The result gives no access to anything else. */
  as(actor: Actor): ReeveVerbs
  /** Closes in order. Commands with the lifetime `daemon` are ended, unless `keep` is true; the others run on. */
  close(options?: { readonly keep?: boolean }): Promise<void>
}
