import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import {
  cacheBreakpoints,
  type ModelRequest,
  type PromptItem,
  type ToolDeclaration,
  type ToolResult,
  type UserPart,
} from '../../core/model/prompt.ts'
import { assistantMessage } from './assistant-message.ts'
import { type Target, wireCallId } from './target.ts'

/** Breakpoints that Anthropic takes in one request. One is for tools and instructions. */
const MAX_PROMPT_BREAKPOINTS = 3

/**
 * A request as the AI SDK's providers take it. The conversion of an item depends on the item and the target alone, so a longer prompt begins
 * with the bytes of a shorter one.
 */
export function callOptions(request: ModelRequest, target: Target): LanguageModelV4CallOptions {
  const { settings = {}, tools, cacheKey } = request
  const maxOutputTokens =
    settings.maxOutputTokens ?? (target.family === 'messages' ? target.maxOutputTokens : undefined)
  return {
    prompt: promptOf(request, target),
    ...(tools.length > 0 && { tools: tools.map(functionTool) }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.effort !== undefined && { reasoning: settings.effort }),
    ...(target.family === 'responses' && {
      providerOptions: {
        openai: { store: false, ...(cacheKey !== undefined && { promptCacheKey: cacheKey }) },
      },
    }),
  }
}

function functionTool({ name, description, input }: ToolDeclaration) {
  return { type: 'function' as const, name, description, inputSchema: input }
}

function promptOf({ system, prompt, cacheAfter }: ModelRequest, target: Target): LanguageModelV4Prompt {
  const marks = new Set(
    (cacheAfter ?? cacheBreakpoints(prompt)).toSorted((a, b) => a - b).slice(-MAX_PROMPT_BREAKPOINTS),
  )
  const instructions: LanguageModelV4Message[] =
    system === '' ? [] : [{ role: 'system', content: system, ...cacheMark(target) }]
  const messages = prompt.flatMap((item, index) =>
    withMark(messagesOf(item, target), marks.has(index), target),
  )
  return [...instructions, ...messages]
}

/** The mark of an item is on its last message. */
function withMark(
  messages: readonly LanguageModelV4Message[],
  isMarked: boolean,
  target: Target,
): readonly LanguageModelV4Message[] {
  const last = messages.at(-1)
  if (!isMarked || last === undefined) return messages
  return [...messages.slice(0, -1), { ...last, ...cacheMark(target) }]
}

function cacheMark({ family }: Target): { readonly providerOptions?: SharedV4ProviderOptions } {
  return family === 'messages'
    ? { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }
    : {}
}

function messagesOf(item: PromptItem, target: Target): readonly LanguageModelV4Message[] {
  switch (item.type) {
    case 'user':
      return [{ role: 'user', content: item.parts.map(userPart).filter((part) => !isEmpty(part)) }]
    case 'assistant':
      return assistantMessage(item, target)
    case 'tool_results':
      return toolMessages(item.results, target)
    // Few providers take instructions inside a conversation, and they cache them differently: a note is user input with a mark.
    case 'note':
      return [
        { role: 'user', content: [{ type: 'text', text: `<system-note>\n${item.text}\n</system-note>` }] },
      ]
  }
}

function userPart(part: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } }
    case 'file': {
      const { mediaType, name, data } = part
      if (mediaType.startsWith('text/')) return { type: 'text', text: fileText(name, data) }
      return {
        type: 'file',
        mediaType,
        data: { type: 'data', data },
        ...(name !== undefined && { filename: name }),
      }
    }
  }
}

/** Providers reject empty texts. */
function isEmpty(part: LanguageModelV4TextPart | LanguageModelV4FilePart): boolean {
  return part.type === 'text' && part.text === ''
}

/** Not all providers take text files, so all get them as text. */
function fileText(name: string | undefined, data: string): string {
  const head = name === undefined ? '<file>' : `<file name=${JSON.stringify(name)}>`
  return `${head}\n${Buffer.from(data, 'base64').toString('utf8')}\n</file>`
}

/** Chat completions take text from tools alone: pictures follow as user input. */
function toolMessages(results: readonly ToolResult[], target: Target): readonly LanguageModelV4Message[] {
  const content = results.map(
    (result): LanguageModelV4ToolResultPart => ({
      type: 'tool-result',
      toolCallId: wireCallId(result.callId, target),
      toolName: result.tool,
      output: outputOf(result, target),
    }),
  )
  const pictures = target.family === 'chat' ? results.flatMap(picturesOf) : []
  const tool: LanguageModelV4Message = { role: 'tool', content }
  return pictures.length === 0 ? [tool] : [tool, { role: 'user', content: pictures.map(userPart) }]
}

function outputOf({ output, isError }: ToolResult, { family }: Target): LanguageModelV4ToolResultOutput {
  switch (output.type) {
    case 'text':
      return { type: isError ? 'error-text' : 'text', value: output.text }
    case 'json':
      return { type: isError ? 'error-json' : 'json', value: output.value }
    case 'content':
      if (isError || family === 'chat')
        return { type: isError ? 'error-text' : 'text', value: output.parts.map(textOf).join('\n') }
      return {
        type: 'content',
        value: output.parts.map(userPart).map((part) =>
          part.type === 'text'
            ? part
            : {
                type: 'file' as const,
                mediaType: part.mediaType,
                data: part.data,
                ...(part.filename !== undefined && { filename: part.filename }),
              },
        ),
      }
  }
}

function picturesOf({ output }: ToolResult): readonly UserPart[] {
  return output.type === 'content'
    ? output.parts.filter(
        ({ type, ...part }) => type === 'image' || ('mediaType' in part && !isText(part.mediaType)),
      )
    : []
}

function textOf(part: UserPart): string {
  const wire = userPart(part)
  return wire.type === 'text' ? wire.text : `[${wire.mediaType}, sent separately]`
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/')
}
