import { randomUUID } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import {
  acceptedContent,
  type CallToolResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { asTask, type TaskDetails, type TaskSource, takesTasks } from '../../../src/mcp/tasks.ts'

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] })

type Answers = Readonly<Record<string, unknown>>

/** A task of the suite: something that takes its time, and may ask its client in between. */
class FixtureTask {
  readonly #cancelled = new AbortController()
  readonly #made = new Date().toISOString()
  readonly #pending = new Map<string, { request: object; answered(response: unknown): void }>()
  readonly id = randomUUID()
  #over: Pick<TaskDetails, 'status' | 'result' | 'error'> | undefined

  constructor(work: (task: FixtureTask, signal: AbortSignal) => Promise<CallToolResult>) {
    const { signal } = this.#cancelled
    work(this, signal).then(
      (result) => {
        this.#over ??= { status: 'completed', result }
      },
      (error: Error) => {
        this.#over ??= { status: 'failed', error: { code: -32603, message: error.message } }
      },
    )
  }

  /** Asks all of these at once; resolves when each is answered. */
  async ask(questions: Readonly<Record<string, object>>): Promise<Answers> {
    const answers = await Promise.all(
      Object.entries(questions).map(async ([key, request]) => {
        const { promise, resolve } = Promise.withResolvers<unknown>()
        this.#pending.set(key, { request, answered: resolve })
        return [key, await promise] as const
      }),
    )
    return Object.fromEntries(answers)
  }

  answer(responses: Answers): void {
    for (const [key, response] of Object.entries(responses)) {
      this.#pending.get(key)?.answered(response)
      this.#pending.delete(key)
    }
  }

  cancel(): void {
    this.#over ??= { status: 'cancelled' }
    this.#cancelled.abort()
  }

  details(): TaskDetails {
    const about = {
      taskId: this.id,
      createdAt: this.#made,
      lastUpdatedAt: this.#made,
      ttlMs: 600_000,
      pollIntervalMs: 100,
    }
    if (this.#over !== undefined) return { ...about, ...this.#over }
    if (this.#pending.size === 0) return { ...about, status: 'working' }
    const inputRequests = Object.fromEntries([...this.#pending].map(([key, { request }]) => [key, request]))
    return { ...about, status: 'input_required', inputRequests }
  }

  /** The first answer to the call: the task, in progress. */
  handle() {
    const { inputRequests: _, ...task } = this.details()
    return asTask({ ...task, status: 'working' })
  }
}

const tasks = new Map<string, FixtureTask>()

export const fixtureTasks: TaskSource = {
  find: async (taskId) => tasks.get(taskId)?.details() ?? null,
  cancel: async (taskId) => tasks.get(taskId)?.cancel(),
  answer: (taskId, responses) => tasks.get(taskId)?.answer(responses),
}

/** Which of them cannot be answered to clients without tasks. */
export const TASK_ONLY: readonly string[] = ['failing_job', 'protocol_error_job', 'test_tool_with_task']

function begin(work: ConstructorParameters<typeof FixtureTask>[0]): CallToolResult {
  const task = new FixtureTask(work)
  tasks.set(task.id, task)
  return task.handle()
}

const confirm = (message: string) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } } },
  },
})

/** The tools whose calls go on as tasks; their names and texts are the suite's. */
export function addFixtureTasks(server: McpServer): void {
  server.registerTool(
    'greet',
    { description: 'Greets at once', inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => text(`Hello, ${name}!`),
  )
  const slow = z.object({ seconds: z.number(), label: z.string().optional() })
  server.registerTool(
    'slow_compute',
    { description: 'Takes as long as it is told', inputSchema: slow },
    async ({ seconds }, ctx) => {
      const work = async (signal?: AbortSignal) => {
        await after(seconds * 1_000, undefined, signal === undefined ? {} : { signal })
        return text(`Computed for ${seconds} s.`)
      }
      return takesTasks(ctx) ? begin((_, signal) => work(signal)) : work()
    },
  )
  server.registerTool('failing_job', { description: 'Fails after a while' }, async () =>
    begin(async () => {
      await after(200)
      return { ...text('The job failed.'), isError: true }
    }),
  )
  server.registerTool('protocol_error_job', { description: 'Breaks' }, async () =>
    begin(() => Promise.reject(new Error('The job broke.'))),
  )
  server.registerTool(
    'confirm_delete',
    { description: 'Asks before it deletes', inputSchema: z.object({ filename: z.string() }) },
    async ({ filename }) =>
      begin(async (task) => {
        await task.ask({ [randomUUID()]: confirm(`Delete ${filename}?`) })
        return text(`Deleted ${filename}.`)
      }),
  )
  server.registerTool('multi_input', { description: 'Asks two things at once' }, async () =>
    begin(async (task) => {
      await task.ask({ [randomUUID()]: confirm('One?'), [randomUUID()]: confirm('Two?') })
      return text('Both answered.')
    }),
  )
  server.registerTool('test_tool_with_task', { description: 'Asks, then takes its time' }, async (ctx) =>
    askedThenTask(ctx),
  )
}

const named = z.object({ name: z.string() })

function askedThenTask({ mcpReq }: ServerContext) {
  const answer = acceptedContent(mcpReq.inputResponses, 'user_name', named)
  if (answer === undefined) {
    const asking = inputRequired.elicit({ message: 'What is your name?', requestedSchema: named })
    return inputRequired({ inputRequests: { user_name: asking } })
  }
  return begin(async () => text(`Hello, ${answer.name}!`))
}
