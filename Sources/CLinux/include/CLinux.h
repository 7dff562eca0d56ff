#pragma once
#include <sys/epoll.h>
#include <sys/socket.h>
