import { completedWord } from '../core/agent/completed-word.ts'
import { notAnAgent } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor } from './action.ts'

type Completion = OutputOf<'completeInput'>['completions'][number]

/** Completions of inputs, from the program that drives the agent. */
export function completionActions(parts: ActionParts): ActionsFor<'completeInput'> {
  return {
    async completeInput({ pid, text, limit }) {
      const agent = await readerFor(parts, 'agent_request')(pid)
      if (agent.agent === null) throw new RefusedError(notAnAgent(agent))
      const word = completedWord(text)
      if (word === null || hasEnded(agent)) return { from: text.length, completions: [], more: false }
      const { from, type, begun } = word
      const found =
        type === 'command' ? await commands(parts, agent, begun) : await files(parts, agent, begun)
      return { from, completions: found.slice(0, limit), more: found.length > limit }
    },
  }
}

async function commands({ agents }: ActionParts, agent: ProcessRecord, begun: string): Promise<Completion[]> {
  const known = (await agents?.commandsOf(agent)) ?? []
  return known
    .filter(({ name, isInert }) => name.startsWith(begun) && !isInert)
    .map(({ name, description, source, arguments: names }) => ({
      type: 'command',
      text: `/${name}`,
      source,
      about: [...names.map((one) => `<${one}>`), description].filter((one) => one !== '').join(' '),
    }))
}

async function files({ agents }: ActionParts, agent: ProcessRecord, begun: string): Promise<Completion[]> {
  const found = (await agents?.filesBeginning(agent, begun)) ?? []
  return found.map(({ path, isFolder }) => ({
    type: isFolder ? 'folder' : 'file',
    text: `@${path}${isFolder ? '/' : ''}`,
    source: '',
    about: '',
  }))
}
