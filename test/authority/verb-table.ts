import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { InputOf, VerbName } from 'reeve'

/**
 * What each verb that changes something does to authority. `answers`: it answers a request to a person. `rules`: it changes what
 * others may do. `narrows`: it passes on, or takes back, a part of what its caller holds. `none`: nothing of this. A new verb has to be added here, and the door table then tries it at every door.
 */
export const VERB_TABLE: { readonly [Name in VerbName]?: 'answers' | 'rules' | 'narrows' | 'none' } = {
  approve: 'answers',
  deny: 'answers',
  reply: 'answers',
  answerApprovals: 'answers',
  addRule: 'rules',
  removeRule: 'rules',
  setPreset: 'rules',
  trustPolicy: 'rules',
  trustFile: 'rules',
  registerImage: 'narrows',
  removeImage: 'narrows',
  forgetPolicy: 'rules',
  clearRules: 'rules',
  delegateRule: 'narrows',
  revokeDelegated: 'narrows',
  abandon: 'none',
  removeSchedule: 'none',
  backfillSchedule: 'none',
  runSchedule: 'none',
  resumeSchedule: 'none',
  pauseSchedule: 'narrows',
  editSchedule: 'narrows',
  addSchedule: 'narrows',
  removeTrigger: 'none',
  runTrigger: 'none',
  resumeTrigger: 'none',
  pauseTrigger: 'narrows',
  editTrigger: 'narrows',
  addTrigger: 'narrows',
  acknowledge: 'none',
  announceWorker: 'none',
  answer: 'none',
  append: 'none',
  ask: 'none',
  changeCwd: 'none',
  changeOwner: 'none',
  charge: 'none',
  claimWork: 'none',
  closeInput: 'none',
  deleteSession: 'none',
  doWork: 'none',
  end: 'none',
  endSession: 'none',
  endTurn: 'none',
  explainRules: 'none',
  grant: 'none',
  interrupt: 'none',
  kill: 'none',
  killAll: 'none',
  openSession: 'none',
  openTurn: 'none',
  prune: 'none',
  pruneAudit: 'none',
  putEnvironment: 'none',
  recover: 'none',
  refreshEnvironment: 'none',
  removeHolder: 'none',
  resize: 'none',
  restart: 'none',
  retireWorker: 'none',
  revoke: 'none',
  send: 'none',
  sendMessage: 'none',
  putObject: 'none',
  linkObject: 'none',
  revokeObject: 'none',
  releaseObject: 'none',
  mergeObjects: 'none',
  setExternalRef: 'none',
  signal: 'none',
  spawn: 'none',
  spawnMany: 'none',
  submit: 'none',
  takeNotices: 'none',
  touchSession: 'none',
  track: 'none',
  transferGrants: 'none',
  write: 'none',
  reorderInputs: 'none',
  removeInput: 'none',
  editInput: 'none',
  allowAgent: 'none',
  configureAgent: 'none',
  shutDownAgent: 'none',
  compactAgent: 'none',
  rewindAgent: 'none',
  notifyAgent: 'none',
  completeInput: 'none',
  pauseAgent: 'none',
  cancelTurn: 'none',
  revokeTool: 'none',
  resumeAgent: 'none',
  runAgent: 'none',
  spawnAgent: 'none',
  spawnAgents: 'none',
  restoreAgent: 'none',
  forkAgent: 'none',
  mergeWorktree: 'none',
  removeWorktree: 'none',
}

export const GUARDED: readonly string[] = Object.entries(VERB_TABLE).flatMap(([name, does]) =>
  does === 'none' || does === 'narrows' ? [] : [name],
)

export type GuardedVerb =
  | ('approve' | 'deny' | 'reply' | 'answerApprovals')
  | ('addRule' | 'removeRule' | 'setPreset' | 'trustPolicy' | 'forgetPolicy' | 'clearRules')
  | 'trustFile'

/** A folder with a policy file, and the hash of the file. */
const folder = fileURLToPath(new URL('../fixtures/workspace', import.meta.url))
const hash = hashOf(`${folder}/.reeve/policy.json`)
const agentFile = `${folder}/.reeve/agents/guarded.yaml`

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** A call of each guarded verb that would change something. */
export function attempts({
  permission,
  question,
}: {
  readonly permission: string
  readonly question: string
}): { readonly [Name in GuardedVerb]: InputOf<Name> } {
  return {
    approve: { id: permission },
    deny: { id: permission },
    reply: { id: question, value: 'yes' },
    answerApprovals: { answers: [{ type: 'approve', id: permission }] },
    addRule: { rule: { effect: 'allow', resource: 'tool:**' } },
    removeRule: { id: 'asked' },
    setPreset: { preset: 'full' },
    trustPolicy: { folder, hash },
    forgetPolicy: { folder },
    trustFile: { path: agentFile, hash: hashOf(agentFile) },
    clearRules: {},
  }
}

/** What became of an attempt that was answered: a verb that answers several requests has a code for each. */
export function codeIn(answer: unknown): string {
  const { results = [] } = Object(answer) as { readonly results?: readonly { readonly code?: string }[] }
  return results.find(({ code }) => code !== undefined)?.code ?? 'accepted'
}
