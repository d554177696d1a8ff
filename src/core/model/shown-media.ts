import type { CallFailure } from './answer.ts'
import type { ModelFacts } from './facts.ts'
import type { PromptItem, ToolResult, UserPart } from './prompt.ts'

/** From here on a model is not shown the pictures and documents of the first `before` items: its provider has refused them. */
export interface HiddenMedia {
  readonly model: string
  readonly before: number
}

interface Viewer {
  /** The name that the agent uses. */
  readonly id: string
  readonly facts: ModelFacts
}

/**
 * The prompt as one model gets it: a text stands for each picture or document that it does not take. It depends on the log and the known
 * facts alone, so a later prompt of the same model begins with the bytes of an earlier one.
 */
export function shownPrompt(
  prompt: readonly PromptItem[],
  viewer: Viewer,
  hidden: readonly HiddenMedia[] = [],
): readonly PromptItem[] {
  const before = Math.max(0, ...hidden.filter(({ model }) => model === viewer.id).map((one) => one.before))
  return prompt.map((item, index) => {
    const shown = (part: UserPart) => shownPart(part, viewer.facts, index < before)
    switch (item.type) {
      case 'user':
        return item.parts.some(isMedia) ? { ...item, parts: item.parts.map(shown) } : item
      case 'tool_results':
        return item.results.some(hasMedia)
          ? { ...item, results: item.results.map((result) => shownResult(result, shown)) }
          : item
      default:
        return item
    }
  })
}

/** Whether a prompt has pictures or documents. */
export function showsMedia(prompt: readonly PromptItem[]): boolean {
  return prompt.some(
    (item) =>
      (item.type === 'user' && item.parts.some(isMedia)) ||
      (item.type === 'tool_results' && item.results.some(hasMedia)),
  )
}

/** Servers have no common answer to a picture that they do not take: it may be that of an invalid request, or of a defect. */
const STATUSES: readonly number[] = [400, 404, 415, 422, 500, 501]

/** Whether the pictures or documents of a prompt may be the cause of a failure. */
export function mayBeAboutMedia({ kind, status }: CallFailure): boolean {
  return kind === 'invalid_request' || (status !== undefined && STATUSES.includes(status))
}

function shownResult(result: ToolResult, shown: (part: UserPart) => UserPart): ToolResult {
  const { output } = result
  return output.type === 'content'
    ? { ...result, output: { ...output, parts: output.parts.map(shown) } }
    : result
}

function shownPart(part: UserPart, { features }: ModelFacts, isHidden: boolean): UserPart {
  if (part.type === 'text' || !isMedia(part)) return part
  if (part.type === 'image')
    return isHidden || features.images === false ? standIn('image', part.mediaType) : part
  const isTaken = part.mediaType === PDF && features.documents !== false
  return isHidden || !isTaken ? standIn(part.name ?? 'file', part.mediaType) : part
}

const PDF = 'application/pdf'

function standIn(name: string, mediaType: string): UserPart {
  return { type: 'text', text: `(${name}, ${mediaType}, not shown to this model)` }
}

function hasMedia({ output }: ToolResult): boolean {
  return output.type === 'content' && output.parts.some(isMedia)
}

/** Text files go to models as text. */
function isMedia(part: UserPart): boolean {
  return part.type === 'image' || (part.type === 'file' && !part.mediaType.startsWith('text/'))
}
