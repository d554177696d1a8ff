import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'
import { approvalText, decisionText } from '../../verbs/approval-text.ts'
import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import { checkedInput } from '../check-input.ts'
import { identityOf, type McpClient } from '../client.ts'
import { InputRequired } from '../input-required.ts'
import { plainSchema, published } from '../input-schema.ts'
import { cut, fitting, PAGE_CHARS } from '../page.ts'
import { duration } from '../process-sentences.ts'
import { wantsStructured } from '../structured.ts'
import { failed } from '../tool.ts'
import { type Answer, resultOf } from '../tool-result.ts'
import type { Approval } from './find-approval.ts'
import type { Operator } from './operator.ts'
import { ownSessions } from './own-sessions.ts'
import type { AnswerVerbs } from './person-here.ts'
import { queueOf, queueWithSettled } from './queue.ts'

/** Tools for the client of a person with an operator's token. An agent's client never gets them, and its verbs would refuse. */
export function registerOperatorTools(server: McpServer, client: McpClient, operator: Operator): void {
  const add = <Input extends z.ZodObject>(described: OperatorTool<Input>) => {
    const { name, title, description, searchHint, input, isRead } = described
    const plain = plainSchema(input)
    const config = {
      title,
      description,
      annotations: isRead ? READS : ANSWERS,
      inputSchema: published(plain),
      _meta: { 'anthropic/searchHint': searchHint },
    }
    server.registerTool(name, config, async (given, ctx): Promise<CallToolResult | InputRequiredResult> => {
      try {
        const asked = checkedInput(name, input, given, plain)
        return resultOf(
          await described.run(asked, { server, client, operator, ctx }),
          wantsStructured(client, ctx),
        )
      } catch (error) {
        if (error instanceof InputRequired) return error.question
        return failed(error)
      }
    })
  }
  add(approvalList)
  add(approvalAnswer)
}

interface OperatorCall {
  readonly server: McpServer
  readonly client: McpClient
  readonly operator: Operator
  readonly ctx: ServerContext
}

interface OperatorTool<Input extends z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly searchHint: string
  readonly isRead: boolean
  readonly input: Input
  run(input: z.output<Input>, call: OperatorCall): Promise<Answer>
}

function operatorTool<Input extends z.ZodObject>(described: OperatorTool<Input>): OperatorTool<Input> {
  return described
}

const READS = { readOnlyHint: true, openWorldHint: false }
const ANSWERS = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true }

const LIST_CHARS = 4 * PAGE_CHARS

const approvalList = operatorTool({
  name: 'approval_list',
  title: 'List approvals',
  description: [
    'Lists what agents ask the person for, in whose name you act: the exact action, who asks and why, and the rule that asks.',
    'The process of each waits until approval_answer, or the person elsewhere, answers. Higher priorities first, then the oldest.',
  ].join(' '),
  searchHint: 'pending approvals, permission requests, what waits for me, questions of agents',
  isRead: true,
  input: z.strictObject({
    settled: z.boolean().default(false).describe('also those that are settled'),
    limit: z.number().int().min(1).max(100).default(20).describe('most approvals'),
  }),
  async run({ settled, limit }, { operator }) {
    const { approvals: found, more } = await (settled ? queueWithSettled : queueOf)(operator, limit)
    const texts = fitting(found.map(itemText), (text) => text.length + 2, LIST_CHARS)
    const rest = found.length - texts.length
    const text = [
      ...(texts.length === 0 ? ['Nothing waits for an answer.'] : texts),
      ...(rest > 0 || more ? ['There are more: answer these first, or raise limit.'] : []),
    ].join('\n\n')
    return { structured: { approvals: found.slice(0, texts.length), more: more || rest > 0 }, text }
  },
})

const approvalAnswer = operatorTool({
  name: 'approval_answer',
  title: 'Answer an approval',
  description: [
    'Answers one approval of approval_list in the name of the person: only as the person has told you to. approve starts the',
    'process; deny ends it, and the agent reads the advice; reply answers a question. The first answer counts, also one from elsewhere.',
  ].join(' '),
  searchHint: 'approve, deny, permit, refuse, reply to an agent',
  isRead: false,
  input: z.strictObject({
    id: z.string().trim().min(1).max(200).describe('the approval, from approval_list'),
    answer: z.enum(['approve', 'deny', 'reply']).describe('what the person decided'),
    grant: z
      .enum(['once', 'process', 'session'])
      .default('once')
      .describe('with approve: how far it reaches'),
    advice: z
      .string()
      .trim()
      .max(2_000)
      .exactOptional()
      .describe('with deny: what the agent should do instead'),
    reply: z
      .string()
      .min(1)
      .max(100_000)
      .exactOptional()
      .describe('with reply: the text, or one of the choices'),
  }),
  async run(asked, { server, client, operator, ctx }) {
    const own = await ownSessions(client, identityOf(server, ctx))
    const settled = await answer(operator.answering(own), asked)
    const said = `${decisionText(settled.approval)} (${settled.approval.pid})`
    const text =
      settled.type === 'settled'
        ? `${asked.id}: ${said}.`
        : `${asked.id} was settled before, and nothing changed: ${said}.`
    return { structured: settled, text }
  },
})

type Asked = z.output<(typeof approvalAnswer)['input']>

function answer(
  answering: AnswerVerbs,
  { id, answer: how, grant, advice, reply }: Asked,
): Promise<OutputOf<'approve'>> {
  if (how === 'approve') return answering.approve({ id, grant } satisfies InputOf<'approve'>)
  if (how === 'deny')
    return answering.deny({ id, ...(advice === undefined || advice === '' ? {} : { advice }) })
  if (reply !== undefined) return answering.reply({ id, value: reply })
  throw new RefusedError(
    refusal('invalid_input', 'A reply needs a text.', 'Give reply, with the text or one of the choices.'),
  )
}

function itemText(approval: Approval): string {
  const { state, askedAt, request } = approval
  const asked = `asked ${duration(Date.now() - askedAt)} ago`
  const grants = request.type === 'permission' ? `\nGrants: ${request.grants.join(', ')}` : ''
  const head = state === 'pending' ? `${asked}:` : `${asked}, ${decisionText(approval)}:`
  return cut(
    `${approval.id}, ${head}\n${approvalText(approval)}${state === 'pending' ? grants : ''}`,
    LIST_CHARS / 2,
  )
}
