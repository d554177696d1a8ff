import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { responses } from '../model/responses.ts'
import { type Connection, type Driver, PLATFORM } from './driver.ts'

const TRIPLES: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

export const codex: Driver = {
  name: 'Codex',
  wire: responses,
  tellsFolder: false,
  program: [`@openai/codex-${PLATFORM}/vendor/${TRIPLES[PLATFORM]}/bin/codex`],
  prepare({ home, modelUrl, connection }, prompt) {
    const codexHome = join(home, '.codex')
    mkdirSync(codexHome)
    writeFileSync(
      join(codexHome, 'config.toml'),
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
        'env_key = "SCRIPTED_KEY"',
        '[mcp_servers.reeve]',
        ...serverLines(connection),
        'default_tools_approval_mode = "approve"',
        // Without it Codex asks its model before a slow server has listed its tools.
        'required = true',
        '',
      ].join('\n'),
    )
    const token = connection.type === 'http' ? { REEVE_TOKEN: connection.token } : {}
    return {
      args: ['exec', '--json', '--skip-git-repo-check', prompt],
      env: { CODEX_HOME: codexHome, SCRIPTED_KEY: 'none', ...token },
    }
  },
}

function serverLines(connection: Connection): string[] {
  if (connection.type === 'http')
    return [`url = ${JSON.stringify(connection.url)}`, 'bearer_token_env_var = "REEVE_TOKEN"']
  const env = Object.entries(connection.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return [
    `command = ${JSON.stringify(connection.command)}`,
    `args = ${JSON.stringify(connection.args)}`,
    `env = { ${env.join(', ')} }`,
  ]
}
