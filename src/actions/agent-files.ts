import type { AgentFile, AgentFileContent } from '../core/agent-file/agent-file.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Edges } from '../kernel/edges.ts'
import { isFileTrusted } from '../kernel/file-trust.ts'
import { trustAgentFile, untrustAgentFile } from '../kernel/policy-files.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOrAudit } from './action.ts'
import { permitOnFolder } from './images.ts'
import { refuse, unlessRefused } from './rule-owners.ts'

/** The files that define something for agents, and people's trust in them. */
export function agentFileActions(parts: ActionParts): ActionsFor<'agentFiles' | 'agentFile' | 'trustFile'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  return {
    async agentFiles({ folder = null, kind }) {
      permitOnFolder(parts, folder)
      const found = (await edges.agentFiles?.find(folder, kind)) ?? []
      return { files: await Promise.all(found.map((file) => shownFile(edges, file))) }
    },
    async agentFile({ path }) {
      permitOnFolder(parts, path)
      const file = (await fileAt(edges, path)) ?? refuse(noFile(path))
      const { content } = file
      return {
        file: await shownFile(edges, file),
        text: content === undefined ? '' : textOf(content),
        allowedTools: content?.kind === 'skill' ? [...content.allowedTools] : [],
        files: content?.kind === 'skill' ? content.files.map((one) => one.path) : [],
      }
    },
    async trustFile({ path, hash }) {
      await permitOrAudit(parts, 'trustFile')
      const file = (await fileAt(edges, path)) ?? refuse(noFile(path))
      if (hash === null) unlessRefused(await untrustAgentFile(edges, actor, file.path))
      else {
        if (file.hash !== hash) refuse(changedSince(file))
        if (file.problem !== null) refuse(unusable(file))
        unlessRefused(await trustAgentFile(edges, actor, file))
      }
      return shownFile(edges, file)
    },
  }
}

/** The file of this path among those of the folders above it, or of the home. */
async function fileAt(edges: Edges, path: string): Promise<AgentFile | undefined> {
  const folder = path.replace(/\/[^/]*\/*$/, '') || '/'
  const found = (await edges.agentFiles?.find(folder)) ?? []
  return found.find((file) => file.path === path)
}

function textOf(content: AgentFileContent): string {
  if (content.kind === 'hooks') return JSON.stringify(content.hooks, null, 2)
  return content.kind === 'image' ? JSON.stringify(content.image, null, 2) : content.body
}

async function shownFile(edges: Edges, file: AgentFile): Promise<OutputOf<'trustFile'>> {
  const { content: _, ...shown } = file
  const state =
    file.problem !== null ? 'invalid' : (await isFileTrusted(edges, file)) ? 'trusted' : 'untrusted'
  return { ...shown, state }
}

function noFile(path: string): Refusal {
  return refusal(
    'not_found',
    `${path} is no image, skill, slash command or file of hooks.`,
    'List the files of the workspace with reeve trust.',
    { path },
  )
}

function changedSince({ path }: AgentFile): Refusal {
  return refusal(
    'conflict',
    `${path} has changed since you looked at it.`,
    'Look at it again, and trust what it says now.',
    { path },
  )
}

function unusable({ path, problem }: AgentFile): Refusal {
  return refusal('invalid_input', `${path} cannot be used: ${problem}`, 'Correct it.', { field: 'path' })
}
