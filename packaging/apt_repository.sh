#!/usr/bin/env bash
# Writes a signed apt repository with the packages of target/debian/ into a directory, which any web server can serve.
# Usage: packaging/apt_repository.sh DIR KEY    KEY: a secret key of gpg, by fingerprint or address. PACKAGES: another source directory
set -euo pipefail
[ $# = 2 ] && [ -n "$1" ] && [ -n "$2" ] || { echo "usage: packaging/apt_repository.sh DIR KEY" >&2; exit 2; }
# A relative path is the caller's.
to=$(realpath -m -- "$1")
cd "$(dirname "$0")/.."
packages=${PACKAGES:-${CARGO_TARGET_DIR:-$PWD/target}/debian}
compgen -G "$packages/*.deb" >/dev/null || { echo "no packages in $packages: run make deb first" >&2; exit 1; }
gpg --batch --list-secret-keys "$2" >/dev/null || { echo "gpg has no secret key '$2'" >&2; exit 1; }

mkdir -p "$to/pool"
directory=$to
cp "$packages"/*.deb "$directory/pool/"
cd "$directory"
architecture=$(dpkg --print-architecture)
index=dists/stable/main/binary-$architecture
mkdir -p "$index"
apt-ftparchive packages pool >"$index/Packages"
gzip -9nkf "$index/Packages"
apt-ftparchive \
    -o APT::FTPArchive::Release::Origin=Paceline \
    -o APT::FTPArchive::Release::Label=Paceline \
    -o APT::FTPArchive::Release::Suite=stable \
    -o APT::FTPArchive::Release::Codename=stable \
    -o APT::FTPArchive::Release::Components=main \
    -o APT::FTPArchive::Release::Architectures="$architecture" \
    release dists/stable >Release
mv Release dists/stable/Release
# The signature is replaced last: until then clients accept the previous state or refuse the new one, but take nothing unsigned.
gpg --batch --yes --local-user "$2" --clearsign --output dists/stable/InRelease.new dists/stable/Release
gpg --batch --yes --local-user "$2" --armor --detach-sign --output dists/stable/Release.gpg dists/stable/Release
mv dists/stable/InRelease.new dists/stable/InRelease
gpg --batch --export "$2" >paceline-archive-keyring.gpg
cat <<EOF
$directory has the repository. On a client:

  install -m 0644 paceline-archive-keyring.gpg /usr/share/keyrings/
  echo 'deb [signed-by=/usr/share/keyrings/paceline-archive-keyring.gpg] file:$directory stable main' >/etc/apt/sources.list.d/paceline.list
  apt-get update && apt-get install paceline
EOF
