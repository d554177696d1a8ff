import { commandLineNeeds } from '../command/resolve-action.ts'
import { fileSubject } from '../core/capability/folder-subjects.ts'
import { foldersAbove, inWorkspace, policyPathOf } from '../core/capability/in-workspace.ts'
import { parsePolicyFile } from '../core/capability/policy-file.ts'
import { isWidening, type Rule, ruleText } from '../core/capability/rule.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Edges } from '../kernel/edges.ts'
import {
  forgetPolicyFile,
  policyInvalid,
  trustPolicyFile,
  untrustPolicyFile,
} from '../kernel/policy-files.ts'
import type { PolicyFileFound } from '../kernel/workspaces.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore, permitOrAudit } from './action.ts'
import { refuse, unlessRefused } from './rule-owners.ts'

type ShownFile = OutputOf<'policyFile'>

/** The policy files of workspaces. */
export function policyFileActions(
  parts: ActionParts,
): ActionsFor<'policyFile' | 'trustPolicy' | 'forgetPolicy' | 'checkPolicy'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  return {
    async policyFile({ folder }) {
      permitOnStore(parts, 'admin')
      const { found, set, folder: own } = await locate(edges, folder)
      return shownFile(own, found, set)
    },
    async trustPolicy({ folder, hash }) {
      await permitOrAudit(parts, 'trustPolicy')
      const { found, folder: own } = await locate(edges, folder)
      if (hash === null) {
        const set = unlessRefused(await untrustPolicyFile(edges, actor, own))
        return shownFile(own, found, set)
      }
      const present = usable(own, found)
      if (present.hash !== hash) refuse(changedSince(present))
      return shownFile(own, present, unlessRefused(await trustPolicyFile(edges, actor, present)))
    },
    async forgetPolicy({ folder }) {
      await permitOrAudit(parts, 'forgetPolicy')
      const { folder: own } = await locate(edges, folder)
      const { rules, kept: before } = unlessRefused(await forgetPolicyFile(edges, actor, own))
      return { folder: own, path: policyPathOf(own), removed: rules.length + (before?.rules.length ?? 0) }
    },
    async checkPolicy({ text }) {
      const { rules, problems } = parsePolicyFile(text, await commandLineNeeds(), edges.hash)
      return { rules: problems.length > 0 ? [] : rules.map(ruleText), problems: [...problems] }
    },
  }
}

/** The files whose rules are in these sets, and those that cannot be used. */
export async function knownFiles(edges: Edges, sets: readonly RuleSet[]): Promise<ShownFile[]> {
  await edges.workspaces?.lookAgain()
  const broken = edges.workspaces?.files.broken ?? []
  const { machine = null } = edges
  // Those of other machines cannot be looked at here.
  const stored = sets
    .map((set) => ({ set, folder: folderOf(set) }))
    .filter(({ set, folder }) => [machine, null].some((on) => set.subject === fileSubject(folder, on)))
  const others = broken
    .filter(({ folder }) => stored.every((known) => known.folder !== folder))
    .map(({ folder }) => ({ set: null, folder }))
  return Promise.all(
    [...stored, ...others].map(async ({ set, folder }) =>
      shownFile(folder, await fileIn(edges, folder), set),
    ),
  )
}

interface Located {
  readonly folder: string
  readonly found: PolicyFileFound | undefined
  readonly set: RuleSet | null
}

/** The policy file that is nearest to a folder: on disk, or known from before. */
async function locate(edges: Edges, asked: string): Promise<Located> {
  const { folder, files } = (await edges.workspaces?.files.look(asked)) ?? { folder: asked, files: [] }
  for (const one of [...foldersAbove(folder)].reverse()) {
    const found = files.find((file) => file.folder === one)
    const set = await storedSet(edges, one)
    if (found !== undefined || set !== null) return { folder: one, found, set }
  }
  return refuse(noFile(folder))
}

/** The set of a file, or the one that was stored for it before subjects named a machine. */
async function storedSet({ store, machine = null }: Edges, folder: string): Promise<RuleSet | null> {
  const set = await store.ask({ ask: 'ruleSet', subject: fileSubject(folder, machine) })
  if (set !== null || machine === null) return set
  return store.ask({ ask: 'ruleSet', subject: fileSubject(folder, null) })
}

async function fileIn(edges: Edges, folder: string): Promise<PolicyFileFound | undefined> {
  const looked = await edges.workspaces?.files.look(folder)
  const isIn = (file: PolicyFileFound) => file.folder === folder
  return looked?.files.find(isIn) ?? edges.workspaces?.files.broken.find(isIn)
}

function folderOf({ source }: RuleSet): string {
  const path = source?.path ?? ''
  return path.slice(0, -policyPathOf('/').length) || '/'
}

function shownFile(folder: string, found: PolicyFileFound | undefined, set: RuleSet | null): ShownFile {
  const isPresent = found !== undefined && set?.source?.hash === found.hash
  const isTrusted = isPresent && set.trusted
  const rules = (found?.rules ?? []).map((rule) => inWorkspace(rule, folder))
  return {
    folder,
    path: policyPathOf(folder),
    state:
      found === undefined
        ? 'missing'
        : found.problems.length > 0
          ? 'invalid'
          : isTrusted
            ? 'trusted'
            : 'untrusted',
    hash: found === undefined || found.hash === '' ? null : found.hash,
    problems: [...(found?.problems ?? [])],
    rules: rules.map(ruleText),
    activates: isTrusted ? [] : rules.filter(countsIfTrusted).map(ruleText),
    kept: (set?.kept?.rules ?? []).map(ruleText),
  }
}

/** Whether a rule, or a part of it, counts only in a trusted file. */
function countsIfTrusted(rule: Rule): boolean {
  return isWidening(rule) || rule.reviewer !== undefined
}

function usable(folder: string, found: PolicyFileFound | undefined): PolicyFileFound {
  if (found === undefined) return refuse(noFile(folder))
  return found.problems.length > 0 ? refuse(policyInvalid(found)) : found
}

function changedSince({ path }: PolicyFileFound): Refusal {
  return refusal(
    'conflict',
    `${path} has changed since you looked at it.`,
    'Look at it again, and trust what it says now.',
    { path },
  )
}

function noFile(folder: string): Refusal {
  return refusal(
    'not_found',
    `Neither ${folder} nor a folder above it has a .reeve/policy.json.`,
    'Name a folder of the workspace.',
  )
}
