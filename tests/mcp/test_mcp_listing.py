"""What our server lists is the contract, key by key."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest
from conftest import TmuxServerFixture
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import Tool
from mcp_client import CONTRACT, ROOT, Agent, arguments, environment, with_agent

SERVED = ["wait_for_text", "list_panes"]
LISTING_BYTES = 20_000  # of JSON: every byte of it is sent with every request to a model


def _as_listed(tool: Tool) -> dict[str, Any]:
    listed = tool.model_dump(by_alias=True, mode="json", exclude_unset=True)
    assert listed.pop("name") in SERVED
    assert len(listed.pop("description")) > 100
    return listed


def test_listed_tools_equal_the_contract(tmux_server: TmuxServerFixture) -> None:
    async def scenario(agent: Agent) -> None:
        listing = await agent.session.list_tools()
        assert [tool.name for tool in listing.tools] == SERVED
        for tool in listing.tools:
            assert _as_listed(tool) == CONTRACT[tool.name]
        assert len(listing.model_dump_json(by_alias=True, exclude_unset=True)) < LISTING_BYTES

    with_agent(tmux_server, scenario)


def test_server_says_who_it_is_and_how_to_use_it(tmux_server: TmuxServerFixture) -> None:
    async def scenario(agent: Agent) -> None:
        hello = agent.session.initialize_result
        assert hello is not None
        assert hello.server_info.name == "tmux-wait"
        assert hello.server_info.version
        assert "wait_for_text" in (hello.instructions or "")
        assert hello.capabilities.tools is not None

    with_agent(tmux_server, scenario)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_both_eras_of_the_protocol_are_served(tmux_server: TmuxServerFixture, mode: Any) -> None:
    pane = tmux_server.pane()
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments(tmux_server), cwd=ROOT, env=environment(tmux_server)
    )

    async def run() -> None:
        async with Client(stdio_client(parameters), mode=mode) as client:
            listing = await client.list_tools()
            assert [_as_listed(tool) for tool in listing.tools] == [CONTRACT[n] for n in SERVED]
            result = await client.call_tool("wait_for_text", {"pane": pane, "seconds": 0})
            assert result.structured_content["outcome"] == "deadline"

    anyio.run(run)
