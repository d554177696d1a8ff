import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codex as client } from '../../../mcp/clients/drivers/codex.ts'
import { responses } from '../../../mcp/clients/model/responses.ts'
import type { RealAgent } from './real-agent.ts'

export const codex: RealAgent = {
  name: 'codex',
  command: 'codex-acp',
  programs: ['@agentclientprotocol/codex-acp/dist/index.js', ...client.program],
  wire: responses,
  shell: (run) => ({
    tool: 'exec_command',
    input: { cmd: run, sandbox_permissions: 'require_escalated', justification: 'It notes that it ran.' },
  }),
  allow: 'Yes, proceed',
  env: (_, [__, program = '']) => ({
    CODEX_PATH: program,
    NO_BROWSER: '1',
    // By default a model reviews what it wants to run outside of its sandbox, not a person.
    INITIAL_AGENT_MODE: 'workspace-write',
  }),
  signIn(home, modelUrl) {
    mkdirSync(join(home, '.codex'))
    writeFileSync(
      join(home, '.codex', 'config.toml'),
      [
        'model = "scripted"',
        'model_provider = "scripted"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    )
  },
  signedOut:
    /opened no session: Authentication required.*Sign in first: codex-acp cli login\..*It offers: API Key/,
}
