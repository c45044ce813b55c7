import pytest

from yurt.sockaddr.interfaces import InterfaceAddress
from yurt.sockaddr.templates import BadTemplate, expand, private_address

Interfaces = tuple[InterfaceAddress, ...]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ('{{ GetInterfaceIP "eth1" }}', "192.168.7.7"),
        ('{{GetInterfaceIP "eth0"}}', "10.1.2.3"),
        ("{{ GetInterfaceIP `eth[12]` }}", "8.8.4.4"),
        ('{{ GetInterfaceIPs "lo|eth1" }}', "192.168.7.7 127.0.0.1 ::1"),
        ("{{ GetPrivateIP }}", "10.1.2.3"),
        ("{{ GetPrivateIPs }}", "10.1.2.3 172.17.0.1 192.168.7.7"),
        ("{{ GetPublicIP }}", "8.8.4.4"),
        ("{{ GetPrivateIP }}:4646", "10.1.2.3:4646"),
        ("127.0.0.1 {{ GetPublicIP }}", "127.0.0.1 8.8.4.4"),
        ('{{ GetAllInterfaces | include "network" "192.168.0.0/16" | attr "address" }}', "192.168.7.7"),
        (
            '{{ GetAllInterfaces | include "name" "^eth" | exclude "type" "IPv6" | attr "address" }}',
            "10.1.2.3",
        ),
        ('{{ GetAllInterfaces | include "name" "eth1|eth2" | join "address" "," }}', "192.168.7.7,8.8.4.4"),
        (
            '{{ GetPrivateInterfaces | exclude "name" "docker.*" | join "address" " " }}',
            "10.1.2.3 192.168.7.7",
        ),
        ('{{ GetPrivateInterfaces | include "rfc" "1918" | sort "-size" | attr "name" }}', "docker0"),
        ('{{ GetAllInterfaces | include "flags" "up|loopback" | attr "name" }}', "lo"),
        ('{{ GetDefaultInterfaces | attr "network" }}', "10.1.2.0/24"),
        ('{{ GetPrivateInterfaces | sort "-address" | limit 1 | attr "address" }}', "192.168.7.7"),
        ('{{ GetPrivateInterfaces | offset 1 | attr "size" }}', "16"),
        ('{{ GetAllInterfaces | include "type" "ipv6" | unique "name" | join "name" " " }}', "lo eth0"),
        ('{{ GetAllInterfaces | include "address" "^10" | attr "type" }}', "IPv4"),
        ('{{ GetAllInterfaces | include "size" "8" | attr "address" }}', "127.0.0.1"),
    ],
)
def test_templates_find_addresses(interfaces: Interfaces, template: str, expected: str) -> None:
    assert expand(template, interfaces) == expected


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ('{{ GetInterfaceIP "eth9" }}', "finds no address"),
        ("{{ GetPrivatIP }}", 'did you mean "GetPrivateIP"'),
        ("{{ GetInterfaceIP }}", "takes 1 arguments, got 0"),
        ('{{ GetPrivateIP | attr "address" }}', "already gives text"),
        ('{{ GetAllInterfaces | includ "name" "x" }}', 'did you mean "include"'),
        ('{{ GetAllInterfaces | include "nam" "x" }}', 'did you mean "name"'),
        ('{{ GetAllInterfaces | include "network" "x" }}', "network 'x'"),
        ('{{ GetAllInterfaces | include "name" "(" }}', "name '\\('"),
        ('{{ GetAllInterfaces | include "flags" "fast" }}', "unknown flag"),
        ('{{ GetAllInterfaces | include "rfc" "1" }}', "only 1918"),
        ('{{ GetAllInterfaces | attr "colour" }}', "unknown name"),
        ('{{ GetAllInterfaces | sort "colour" }}', "unknown name"),
        ("{{ GetAllInterfaces | limit x }}", "takes a number"),
        ("{{ GetAllInterfaces | | limit 1 }}", "empty step"),
        ("{{ GetPrivateIP", "without a closing"),
        ('{{ GetInterfaceIP "eth0 }}', "check its quotes"),
        ("{{ }}", "empty step"),
    ],
)
def test_bad_templates_say_what_is_wrong(interfaces: Interfaces, template: str, problem: str) -> None:
    with pytest.raises(BadTemplate, match=problem):
        expand(template, interfaces)


def test_a_machine_may_have_no_private_address(interfaces: Interfaces) -> None:
    assert private_address(interfaces) == "10.1.2.3"
    assert private_address([a for a in interfaces if a.interface in ("lo", "eth2")]) is None
