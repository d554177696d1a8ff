import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import type { Clock } from '../core/clock.ts'
import { type FactOverrides, factsOf, nearestModels } from '../core/model/facts.ts'
import { parseModelId } from '../core/model/model-id.ts'
import type { ModelName } from '../core/model/prompt.ts'
import { type ModelRefusal, modelRefusal } from '../core/model/refusal.ts'
import { limitedModel } from './limited-model.ts'
import { Limiter } from './limiter.ts'
import type { Model } from './model.ts'
import type { ModelOptions } from './options.ts'
import { DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_MAX_CONCURRENT, findProvider, type KeySource } from './providers.ts'

export interface ModelEdges {
  readonly clock: Clock
  /** Read for each model that is opened, so that a changed key counts for the next turn. */
  readonly keys: () => KeySource
}

export type OpenedModel = { readonly type: 'opened'; readonly model: Model } | ModelRefusal

/** All models of a daemon. They share one limiter. Providers, scripts and recordings are loaded when they are first used. */
export class Models {
  readonly #options: ModelOptions
  readonly #edges: ModelEdges
  readonly #limiter: Limiter

  constructor(options: ModelOptions, edges: ModelEdges) {
    this.#options = options
    this.#edges = edges
    this.#limiter = new Limiter(edges.clock)
  }

  close(): void {
    this.#limiter.close()
  }

  get overrides(): FactOverrides {
    return this.#options.models
  }

  /**
   * | id                                  | model                                                              |
   * | `anthropic/…`, `openai/…`, `google/…` | of that provider                                                 |
   * | `<name>/…`                          | of a provider in the configuration                                 |
   * | `scripted/demo`, `scripted/<file>`  | a script; a relative path begins at `folder`                       |
   * | `record/<file>@<model id>`          | records the answers of that model, and replays recorded ones       |
   * | `record/<file>`                     | replays                                                            |
   */
  async open(id: string, folder: string): Promise<OpenedModel> {
    const name = parseModelId(id)
    if (name === undefined) return this.#unknown(id)
    switch (name.provider) {
      case 'scripted':
        return this.#openScript(name.model, folder)
      case 'record':
        return this.#openRecording(name.model, folder)
      default:
        return this.#openProvider(name)
    }
  }

  /** A model object of a program that embeds Reeve. */
  async openObject(object: unknown): Promise<OpenedModel> {
    const { modelOfObject } = await import('./ai-sdk/model-object.ts')
    const opened = modelOfObject(object, { clock: this.#edges.clock, idleTimeoutMs: DEFAULT_IDLE_TIMEOUT_MS })
    if (opened.type === 'refused') return opened
    const limits = {
      limiter: this.#limiter,
      key: `object ${opened.model.provider}`,
      maxConcurrent: DEFAULT_MAX_CONCURRENT,
    }
    return { type: 'opened', model: limitedModel(opened.model, limits) }
  }

  async #openProvider(name: ModelName): Promise<OpenedModel> {
    const found = findProvider(name.provider, this.#options, this.#edges.keys())
    if (found.type === 'refused') return found
    const { maxConcurrent, idleTimeoutMs, ...provider } = found.provider
    const [{ FAMILIES, languageModel }, { aiSdkModel }] = await Promise.all([
      import('./ai-sdk/language-model.ts'),
      import('./ai-sdk/ai-sdk-model.ts'),
    ])
    const { maxOutputTokens } = factsOf(name, this.overrides)
    const target = {
      ...name,
      family: FAMILIES[provider.type],
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    }
    const sdkModel = await languageModel({ ...provider, provider: name.provider, model: name.model })
    const model = aiSdkModel(sdkModel, {
      target,
      clock: this.#edges.clock,
      idleTimeoutMs,
      ...(provider.key !== undefined && { key: provider.key }),
    })
    const lane = laneOf(provider.baseURL, provider.key)
    return {
      type: 'opened',
      model: limitedModel(model, { limiter: this.#limiter, key: lane, maxConcurrent }),
    }
  }

  async #openScript(name: string, folder: string): Promise<OpenedModel> {
    const { clock } = this.#edges
    const { scriptedModel } = await import('./scripted/scripted-model.ts')
    if (name === 'demo') {
      const { DEMO_SCRIPT } = await import('./scripted/demo.ts')
      return { type: 'opened', model: scriptedModel(DEMO_SCRIPT, { name, clock }) }
    }
    const { parseScript } = await import('./scripted/script.ts')
    let text: string
    try {
      text = await readFile(pathOf(name, folder), 'utf8')
    } catch (error) {
      return modelRefusal(
        'script_invalid',
        `The script ${name} cannot be read: ${messageOf(error)}.`,
        'Give the path of a script as scripted/<file>, or use scripted/demo.',
      )
    }
    const parsed = parseScript(text, name)
    if (parsed.type === 'refused') return parsed
    return { type: 'opened', model: scriptedModel(parsed.script, { name, clock }) }
  }

  async #openRecording(name: string, folder: string): Promise<OpenedModel> {
    const [{ Recording }, { recordedModel }] = await Promise.all([
      import('./recorded/recording.ts'),
      import('./recorded/recorded-model.ts'),
    ])
    const at = name.lastIndexOf('@')
    const isReplay = at <= 0
    const file = isReplay ? name : name.slice(0, at)
    const recording = await Recording.open(pathOf(file, folder))
    if (!(recording instanceof Recording)) return recording
    if (isReplay) {
      if (recording.model !== undefined) return { type: 'opened', model: recordedModel(recording, undefined) }
      return modelRefusal(
        'script_invalid',
        `The recording ${file} does not exist.`,
        'Record one first, with record/<file>@<provider>/<model>.',
      )
    }
    const live = await this.open(name.slice(at + 1), folder)
    return live.type === 'refused' ? live : { type: 'opened', model: recordedModel(recording, live.model) }
  }

  #unknown(id: string): ModelRefusal {
    const nearest = nearestModels(id, this.overrides)
    return modelRefusal(
      'model_unknown',
      `${id} is not the id of a model.`,
      `Ids are <provider>/<model>, for example ${nearest.join(', ') || 'anthropic/claude-opus-5-5'}.`,
    )
  }
}

function pathOf(file: string, folder: string): string {
  return isAbsolute(file) ? file : join(folder, file)
}

/** Keys are not kept in clear for a name. */
function laneOf(baseURL: string, key = ''): string {
  return createHash('sha256').update(`${baseURL}\0${key}`).digest('hex')
}
