import * as z from 'zod'
import {
  MAX_CHOICE_CHARS,
  MAX_CHOICES,
  questionAnswer,
  questionProcess,
} from '../../core/approval/question.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { sendMessage } from '../../kernel/send-message.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../tools/agent-tool.ts'
import { awaitChild } from './await-child.ts'
import type { RunningCalls } from './running-calls.ts'
import type { ToolboxParts } from './toolbox.ts'

export interface HumanToolParts extends Pick<ToolboxParts, 'spawnAs'> {
  readonly kernel: () => Kernel
  readonly calls: RunningCalls
}

const MAX_TEXT_CHARS = 4_000

/** Questions and messages to people. */
export function humanTools(parts: HumanToolParts): readonly AgentTool[] {
  return [askHumanTool(parts), tellHumanTool(parts)]
}

function askHumanTool({ kernel, spawnAs, calls }: HumanToolParts): AgentTool {
  return agentTool({
    name: 'ask_human',
    description:
      'Asks a person a question, and waits for the reply. Ask only what you cannot find out yourself.',
    input: z.strictObject({
      question: z.string().min(1).max(MAX_TEXT_CHARS),
      choices: z.array(z.string().min(1).max(MAX_CHOICE_CHARS)).min(1).max(MAX_CHOICES).optional(),
    }),
    // The question is a process of its own: a later attempt waits for the same reply.
    recovery: 'rerunnable',
    maxMs: null,
    async run({ question, choices }, { pid, abortSignal: signal }) {
      const { work } = calls.of(pid)
      const asked = questionProcess({
        question,
        choices,
        timeoutMs: undefined,
        person: undefined,
        priority: undefined,
      })
      const child = await spawnAs(work, { ...asked, parent: pid, idempotencyKey: 'question' })
      const { outcome } = await awaitChild(kernel(), work, child.pid, { signal, runMs: null })
      if (outcome === null) throw new Error(`${child.pid} has ended without an outcome`)
      const answer = questionAnswer(outcome)
      switch (answer.type) {
        case 'replied':
          return textOutput(typeof answer.value === 'string' ? answer.value : JSON.stringify(answer.value))
        case 'denied':
          throw new ToolError(
            'refused',
            `The person does not answer.${answer.advice === null ? '' : ` They say: ${answer.advice}`}`,
          )
        case 'expired':
          throw new ToolError('timed_out', 'No answer came in time.')
        case 'withdrawn':
          throw new ToolError('refused', `The question was withdrawn (${answer.reason ?? 'stopped'}).`)
      }
    },
  })
}

/** The person at the machine. */
const PERSON = 'human:host'

function tellHumanTool({ kernel }: HumanToolParts): AgentTool {
  return agentTool({
    name: 'tell_human',
    description: 'Sends a person a message, without waiting. They may read it later.',
    input: z.strictObject({ text: z.string().min(1).max(MAX_TEXT_CHARS) }),
    // The same call sends one message.
    recovery: 'rerunnable',
    async run({ text }, { pid }) {
      const message = {
        channel: null,
        correlationId: null,
        replyTo: null,
        priority: 'normal',
        value: text,
      } as const
      await sendMessage(kernel(), { actor: `process:${pid}`, to: PERSON, message, key: 'tell' })
      return textOutput('Sent.')
    },
  })
}
