import type { AgentParts } from '../agent/agent-parts.ts'
import type { Secrets } from '../core/environment/secrets.ts'
import { own } from '../core/json/json.ts'
import { factsUnder, type ModelFacts } from '../core/model/facts.ts'
import { nameOfObject, parseModelId } from '../core/model/model-id.ts'
import type { ModelName } from '../core/model/prompt.ts'
import type { Models, OpenedModel } from '../model/models.ts'
import type { ModelOptions } from '../model/options.ts'
import { systemClock } from '../store/system-clock.ts'

export interface AgentModelsParts {
  readonly options: ModelOptions
  /** Model objects of the embedding program, by the ids that agents name. */
  readonly objects: Readonly<Record<string, unknown>>
  readonly secrets: Secrets | undefined
}

/** The models that agents of this program can use. Their code is loaded when the first one is opened. */
export class AgentModels implements AgentModelsOf {
  readonly #parts: AgentModelsParts
  #models: Promise<Models> | undefined

  constructor(parts: AgentModelsParts) {
    this.#parts = parts
  }

  /** `name`: the name that an opened model gives itself. An object is asked for it; every other model has its id as its name. */
  factsOf(id: string, name?: ModelName): ModelFacts {
    const { options, objects } = this.#parts
    return factsUnder(id, name ?? nameOfObject(own(objects, id)) ?? parseModelId(id), options.models)
  }

  async open(id: string, folder: string): Promise<OpenedModel> {
    this.#models ??= this.#load()
    const models = await this.#models
    const object = own(this.#parts.objects, id)
    return object === undefined ? models.open(id, folder) : models.openObject(object)
  }

  async #load(): Promise<Models> {
    const { options, secrets } = this.#parts
    const { Models } = await import('../model/models.ts')
    return new Models(options, {
      clock: systemClock,
      keys: () => ({ secrets: secrets?.read() ?? {}, env: process.env }),
    })
  }
}

type AgentModelsOf = AgentParts['models']
