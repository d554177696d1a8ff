import { messageOf } from '../base/error-text.ts'
import { isObject } from '../base/is-object.ts'
import { RefusedError } from '../core/errors.ts'
import { asJson, type JsonObject } from '../core/json/json.ts'
import { checkOptions } from '../core/known-options.ts'
import { refusal } from '../core/refusal.ts'
import { isToolName, type ToolDeclaration } from '../core/tool/declaration.ts'
import type { Value } from '../core/value/value.ts'
import { type Accepted, issuesText, type Parsed, type StandardSchema } from './standard-schema.ts'
import type { ToolContext, ToolHandler } from './tool-function.ts'

/** A tool that a program serves. Made by `defineTool`. */
export interface ToolDefinition extends ToolDeclaration {
  readonly type: 'tool'
  /** Checks the input, runs the tool, and checks the output. */
  readonly handler: ToolHandler
}

/** The argument of `defineTool`. */
export interface ToolToDefine<Input extends StandardSchema, Output extends StandardSchema> {
  /** 1 to 64 letters, digits, `_` and `-`: the names that model providers accept. */
  readonly name: string
  /** What it does, for the model or the person that chooses it. */
  readonly description: string
  /** The schema of its input: of zod, or of another library with Standard Schema. */
  readonly input: Input
  /** The schema of its result. Without it any value that can be stored is one. */
  readonly output?: Output
  /** The JSON Schema of `input`, for libraries that do not provide one. */
  readonly inputJsonSchema?: Readonly<Record<string, unknown>>
  /** `rerunnable` for a tool that may run twice, such as a read. `bound` by default. */
  readonly recovery?: ToolDeclaration['recovery']
  /** Does the work. Its input has passed the schema. */
  run(input: Parsed<Input>, context: ToolContext): Promise<Accepted<Output>> | Accepted<Output>
}

/**
 * Defines a tool with checked input and output. Serve it with `embed({ tools: [tool] })`, or with `reeve.tool(tool)` of a client.
 *
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The weather of a city now.',
 *   input: z.object({ city: z.string() }),
 *   run: async ({ city }) => ({ city, celsius: 21 }),
 * })
 * ```
 */
export function defineTool<
  Input extends StandardSchema,
  Output extends StandardSchema = StandardSchema<Value, unknown>,
>(tool: ToolToDefine<Input, Output>): ToolDefinition {
  checkOptions('defineTool', tool, MEMBERS)
  const { name, description, input, output, recovery = 'bound' } = tool
  if (!isToolName(name))
    throw invalid(
      `${JSON.stringify(name)} is no name of a tool.`,
      'Use 1 to 64 letters, digits, _ and -.',
      'name',
    )
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid(
      `The tool ${name} has no description.`,
      'Say in a sentence what it does: models choose tools by it.',
      'description',
    )
  return {
    type: 'tool',
    name,
    description,
    recovery,
    inputSchema:
      tool.inputJsonSchema === undefined
        ? jsonSchemaOf(name, input)
        : objectSchema(name, tool.inputJsonSchema),
    async handler(context) {
      const given = await parsed(input, context.input, `The input of ${name}`)
      const result = await tool.run(given, context)
      const checked = output === undefined ? result : await parsed(output, result, `The result of ${name}`)
      // What cannot be stored is refused by the executor, which names the place in the value.
      return checked as Value
    },
  }
}

const MEMBERS = ['name', 'description', 'input', 'output', 'inputJsonSchema', 'recovery', 'run']

async function parsed<Schema extends StandardSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): Promise<Parsed<Schema>> {
  const checked = await schema['~standard'].validate(value)
  if (checked.issues === undefined) return checked.value
  throw invalid(`${what} does not fit its schema: ${issuesText(checked.issues)}`, 'Correct these members.')
}

/** Libraries give it by the JSON Schema extension of Standard Schema, or by a method, as zod does. */
function jsonSchemaOf(name: string, schema: StandardSchema): JsonObject {
  const standard: unknown = schema['~standard']
  const extension = isObject(standard) ? standard['jsonSchema'] : undefined
  const convert = isObject(extension) ? extension['input'] : undefined
  const method = isObject(schema) ? schema['toJSONSchema'] : undefined
  if (typeof convert !== 'function' && typeof method !== 'function')
    throw invalid(
      `The input of the tool ${name} is a schema of ${schema['~standard'].vendor}, which provides no JSON Schema.`,
      'Give inputJsonSchema as well, or use a schema of zod 4.',
      'input',
    )
  try {
    const made: unknown =
      typeof convert === 'function'
        ? convert.call(extension, { target: 'draft-2020-12' })
        : typeof method === 'function'
          ? method.call(schema, { io: 'input' })
          : undefined
    return objectSchema(name, made)
  } catch (error) {
    if (error instanceof RefusedError) throw error
    throw invalid(
      `The input of the tool ${name} has no JSON Schema: ${messageOf(error)}`,
      'Use types that JSON has, or give inputJsonSchema.',
      'input',
    )
  }
}

/** Model providers accept objects only. The dialect is always the newest one, so it is left out. */
function objectSchema(name: string, made: unknown): JsonObject {
  const { $schema: _, ...schema } = isObject(made) ? made : {}
  if (schema['type'] === 'object') return asJson(schema) as JsonObject
  throw invalid(
    `The input of the tool ${name} is not an object.`,
    'Models give the input of a tool as an object: wrap the value in one.',
    'input',
  )
}

function invalid(message: string, remedy: string, field?: string): RefusedError {
  return new RefusedError(refusal('invalid_input', message, remedy, field === undefined ? {} : { field }))
}
